import { type Cluster, type Installation, type RedisServers, waitFor } from '@spotalis/cluster';
import type { Split } from '@spotalis/e2e/workloads';
import { Workload } from '@spotalis/e2e/workloads';
import { observe } from '../observation.ts';
import { sampleManifests, sampleNamespace, samples } from '../samples.ts';
import { isSettled, offTarget, type Row } from '../table.ts';

/** How long anything may take before a scene is given up. */
const patienceMs = 180_000;

/** The cluster, as scenes lay their hands on it. */
export class Playground {
  readonly cluster: Cluster;
  readonly redis: RedisServers | undefined;
  readonly installation: Installation;

  constructor(parts: Pick<Playground, 'cluster' | 'redis' | 'installation'>) {
    this.cluster = parts.cluster;
    this.redis = parts.redis;
    this.installation = parts.installation;
  }

  workload(name: string): Workload {
    const sample = samples.find((each) => each.name === name);
    if (sample === undefined) throw new RangeError(`there is no sample workload ${name}`);
    const { kind, replicas, spotPercentage, minOnDemand } = sample;
    return new Workload(this.cluster.api, {
      kind,
      name,
      namespace: sampleNamespace,
      replicas,
      policy: { spotPercentage, minOnDemand },
    });
  }

  /** The sample workloads as they were in the beginning, whatever was done to them in between. */
  async prepare(): Promise<void> {
    await this.cluster.api.apply(sampleManifests);
    await this.settled();
  }

  /** Resolves when every sample workload is as its policy says, with all its pods Ready, and would be after a scale-down. */
  async settled(): Promise<void> {
    await this.until('every workload to be on target', (rows) => rows.every(isSettled));
  }

  /** Every pod that was asked for is Ready, wherever it is. */
  async serving(): Promise<void> {
    await this.until('every workload to have its pods Ready', (rows) =>
      rows.every(({ ready, replicas }) => ready === replicas),
    );
  }

  async until(what: string, is: (rows: readonly Row[]) => boolean): Promise<readonly Row[]> {
    return waitFor(
      what,
      async () => {
        const rows = await observe(this.cluster.api);
        return is(rows) ? rows : undefined;
      },
      { timeoutMs: patienceMs, intervalMs: 100 },
    );
  }

  async offTarget(): Promise<number> {
    const rows = await observe(this.cluster.api);
    return rows.reduce((sum, row) => sum + offTarget(row), 0);
  }

  /** Evictions that the API server granted so far, from its own log. */
  evictions(): number {
    return this.cluster.auditLog.read(
      ({ objectRef, responseStatus }) =>
        objectRef?.subresource === 'eviction' && responseStatus?.code === 201,
    ).length;
  }

  admissions(): Promise<number> {
    return this.installation.admissionMetric('spotalis_admissions_total');
  }

  /** Resolves when that many more admissions were answered: a watch would tell it too late. */
  async admitted(more: number, since: number): Promise<void> {
    await waitFor(`${more} admissions`, async () => (await this.admissions()) >= since + more, {
      timeoutMs: patienceMs,
      intervalMs: 1,
    });
  }
}

export function inWords({ spot, onDemand, unsteered }: Split): string {
  const stray = unsteered === 0 ? '' : ` and ${unsteered} not steered`;
  return `${spot} on spot, ${onDemand} on on-demand${stray}`;
}
