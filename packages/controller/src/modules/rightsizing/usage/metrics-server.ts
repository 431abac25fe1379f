import { type ApiClient, ApiError, asError, DeadlineError, resource } from '@spotalis/kube';
import { type Milliseconds, parseQuantity } from '@spotalis/units';
import type { ContainerName, ContainerUsage, Past, PointProvider } from './provider.ts';
import { DropCount, excerpt, failed, noDrops, type UsageProblem, type UsageReading } from './reading.ts';
import { amountOf, containerKey, containerNameOf, fieldsOf } from './value.ts';

const podMetrics = resource('metrics.k8s.io/v1beta1', 'pods', 'PodMetrics');

export interface MetricsServerOptions {
  readonly client: Pick<ApiClient, 'list'>;
  /** Where rights are given by namespace; the whole cluster in one LIST without it. */
  readonly namespaces?: readonly string[];
}

const SAMPLE_EVERY_MS = 60_000;
/** A point is never longer. */
const LONGEST_POINT_MS = 15 * 60_000;
const LIST_DEADLINE_MS = 30_000;
/** Five samples at the usual pace, and more than the clocks of nodes differ. */
const STALE_MS = 5 * 60_000;
/** One sample of a point says little about its mean. */
const SAMPLES_PER_POINT = 2;

/** CPU over the last seconds, in millicores; memory now, in bytes. */
export interface ContainerSample extends ContainerName {
  /** By the clock of the node; null where it does not say. */
  readonly measuredMs: number | null;
  readonly cpu: number;
  readonly memory: number;
}

interface Sample {
  readonly atMs: number;
  readonly measuredMs: number | null;
  readonly cpu: number;
  readonly memory: number;
}

interface Sampled extends ContainerName {
  samples: readonly Sample[];
}

/**
 * Usage from the Metrics API, which knows the present only: one LIST a minute, shared by all policies, and the samples
 * of the longest point in memory.
 */
export class MetricsServerUsage implements PointProvider {
  readonly gives = 'points';
  readonly name = 'metrics-server';
  readonly settleMs = 0;
  readonly #client: MetricsServerOptions['client'];
  readonly #namespaces: readonly (string | undefined)[];
  readonly #containers = new Map<string, Sampled>();
  /** When a LIST was complete. */
  #sampledMs: readonly number[] = [];
  #problem: UsageProblem | undefined;

  constructor({ client, namespaces }: MetricsServerOptions) {
    this.#client = client;
    this.#namespaces = namespaces ?? [undefined];
  }

  async sample(atMs: number): Promise<UsageReading<null>> {
    const drops = new DropCount();
    const samples: ContainerSample[] = [];
    for (const namespace of this.#namespaces) {
      const where = namespace === undefined ? 'all namespaces' : `the namespace ${namespace}`;
      const problem = await this.#list(namespace, where, samples, drops);
      if (problem !== undefined) return this.#failed(problem);
    }
    if (samples.length === 0 && this.#namespaces.includes(undefined)) {
      // It is a pod itself, so no cluster has none.
      const message = 'metrics-server: it has measured no container yet: wait a minute, then see its log';
      return this.#failed({ reason: 'Partial', message });
    }
    const fresh = samples.filter(({ measuredMs }) => Math.abs((measuredMs ?? atMs) - atMs) <= STALE_MS);
    if (fresh.length === 0 && samples.length > 0) {
      const minutes = STALE_MS / 60_000;
      const message = `metrics-server: every sample is more than ${minutes} minutes old: see its log`;
      return this.#failed({ reason: 'Stale', message });
    }
    for (let left = samples.length - fresh.length; left > 0; left--) drops.add('OutsideSpan');
    this.#forget(atMs - LONGEST_POINT_MS);
    this.#sampledMs = [...this.#sampledMs, atMs];
    for (const one of fresh) this.#add(one, atMs, drops);
    this.#problem = undefined;
    return { kind: 'read', value: null, dropped: drops.counts };
  }

  async past(): Promise<UsageReading<Past>> {
    return Promise.resolve({ kind: 'read', value: { usage: [], owners: [] }, dropped: noDrops });
  }

  async latest(endMs: number, resolutionMs: Milliseconds): Promise<UsageReading<readonly ContainerUsage[]>> {
    return Promise.resolve(this.#point(endMs, resolutionMs));
  }

  /** The client belongs to somebody else. */
  async close(): Promise<void> {
    this.#containers.clear();
    return Promise.resolve();
  }

  #point(endMs: number, resolutionMs: number): UsageReading<readonly ContainerUsage[]> {
    const isInside = (atMs: number): boolean => atMs > endMs - resolutionMs && atMs <= endMs;
    // A point of one minute has no room for two.
    const needed = Math.min(SAMPLES_PER_POINT, Math.max(1, Math.floor(resolutionMs / SAMPLE_EVERY_MS)));
    const taken = this.#sampledMs.filter(isInside).length;
    if (taken < needed) {
      const { reason, message } = this.#problem ?? { reason: 'Stale', message: 'it was not asked in time' };
      return failed(reason, `metrics-server: ${taken} of ${needed} samples of the point: ${message}`);
    }
    const usage: ContainerUsage[] = [];
    for (const { namespace, pod, container, samples } of this.#containers.values()) {
      const inside = samples.filter(({ atMs }) => isInside(atMs));
      if (inside.length < needed) continue;
      const mean = inside.reduce((sum, { cpu }) => sum + cpu, 0) / inside.length;
      const highest = Math.max(...inside.map(({ memory }) => memory));
      usage.push({
        namespace,
        pod,
        container,
        cpu: [{ endMs, value: mean }],
        memory: [{ endMs, value: highest }],
      });
    }
    return { kind: 'read', value: usage, dropped: noDrops };
  }

  async #list(
    namespace: string | undefined,
    where: string,
    samples: ContainerSample[],
    drops: DropCount,
  ): Promise<UsageProblem | undefined> {
    const about = `metrics-server: PodMetrics of ${where}`;
    let items: unknown;
    try {
      const options = { once: true, deadlineMs: LIST_DEADLINE_MS } as const;
      const selection = namespace === undefined ? {} : { namespace };
      ({ items } = await this.#client.list(podMetrics, selection, options));
    } catch (thrown) {
      const error = asError(thrown);
      return { reason: reasonOf(error), message: `${about}: ${excerpt(error.message)}` };
    }
    if (!Array.isArray(items)) return { reason: 'Malformed', message: `${about}: the answer has no items` };
    for (const item of items) samples.push(...readPodMetrics(item, drops));
    return undefined;
  }

  #add(one: ContainerSample, atMs: number, drops: DropCount): void {
    const { namespace, pod, container, measuredMs, cpu, memory } = one;
    const key = containerKey(one);
    const known = this.#containers.get(key) ?? { namespace, pod, container, samples: [] };
    const last = known.samples.at(-1);
    // The kubelet has measured nothing since.
    if (measuredMs !== null && last?.measuredMs === measuredMs) {
      drops.add('Duplicate');
      return;
    }
    known.samples = [...known.samples, { atMs, measuredMs, cpu, memory }];
    this.#containers.set(key, known);
  }

  #forget(untilMs: number): void {
    this.#sampledMs = this.#sampledMs.filter((atMs) => atMs > untilMs);
    for (const [key, sampled] of this.#containers) {
      const left = sampled.samples.filter(({ atMs }) => atMs > untilMs);
      if (left.length === 0) this.#containers.delete(key);
      else sampled.samples = left;
    }
  }

  #failed(problem: UsageProblem): UsageReading<never> {
    this.#problem = problem;
    return { kind: 'failed', problem };
  }
}

function reasonOf(error: Error): UsageProblem['reason'] {
  if (error instanceof ApiError) return 'Refused';
  if (error instanceof TypeError) return 'Malformed';
  return error instanceof DeadlineError ? 'Late' : 'Unreachable';
}

/** Any JSON in, no throw. A container without both amounts is left out, and counted. */
export function readPodMetrics(item: unknown, drops: DropCount): readonly ContainerSample[] {
  const fields = fieldsOf(item);
  const metadata = fieldsOf(fields?.['metadata']);
  const containers = fields?.['containers'];
  if (!Array.isArray(containers)) return [];
  const measured = typeof fields?.['timestamp'] === 'string' ? Date.parse(fields['timestamp']) : Number.NaN;
  const samples: ContainerSample[] = [];
  for (const one of containers) {
    const container = fieldsOf(one);
    const usage = fieldsOf(container?.['usage']);
    const name = containerNameOf(metadata?.['namespace'], metadata?.['name'], container?.['name'], drops);
    if (name === null) continue;
    const cpu = amountOf('cpu', quantityOf(usage?.['cpu']) * 1000, drops);
    const memory = amountOf('memory', quantityOf(usage?.['memory']), drops);
    if (cpu === null || memory === null) continue;
    samples.push({ ...name, measuredMs: Number.isNaN(measured) ? null : measured, cpu, memory });
  }
  return samples;
}

function quantityOf(value: unknown): number {
  return typeof value === 'string' ? (parseQuantity(value) ?? Number.NaN) : Number.NaN;
}
