import { type Cluster, waitFor } from '@spotalis/cluster';
import type { PolicyNumbers } from '@spotalis/core';
import { PodCreations } from '../../workloads/creations.ts';
import { manifest, optedInNamespace, Workload } from '../../workloads/workload.ts';

const STEP = 2;
/** Enough for new pods to be what lost ones were not. */
const REPAIRING = 20;

/** Pods of one workload that come to be two by two, without a pause, each pair looked at. */
export class Stream {
  readonly #cluster: Cluster;
  readonly #namespace: string;
  readonly #workload: Workload;
  readonly #watched: Promise<void>;
  readonly #waiting: { readonly replicas: number; readonly reached: () => void }[] = [];
  #ending = false;
  #replicas: number;
  /** The worst that was seen. */
  offTarget = 0;

  private constructor(cluster: Cluster, namespace: string, workload: Workload, replicas: number) {
    this.#cluster = cluster;
    this.#namespace = namespace;
    this.#workload = workload;
    this.#replicas = replicas;
    this.#watched = this.#run();
    // Heard at the end.
    this.#watched.catch(() => undefined);
  }

  static async start(
    cluster: Cluster,
    namespace: string,
    policy: PolicyNumbers,
    replicas = STEP,
  ): Promise<Stream> {
    const declaration = { name: 'web', namespace, replicas, policy };
    await cluster.api.apply([optedInNamespace(namespace), manifest(declaration)]);
    return new Stream(cluster, namespace, new Workload(cluster.api, declaration), replicas);
  }

  get creations(): PodCreations {
    return PodCreations.of(this.#cluster.auditLog, this.#namespace);
  }

  /** Resolves when it has that many pods. */
  async grown(replicas: number): Promise<void> {
    const reached = new Promise<void>((resolve) => this.#waiting.push({ replicas, reached: resolve }));
    await Promise.race([reached, this.#watched]);
  }

  /** Resolves when all that was declared by now is there. */
  async end(): Promise<{ pods: number }> {
    this.#ending = true;
    await this.#watched;
    return { pods: this.#replicas };
  }

  /** Resolves when pods that came unsteered are made up for, by where they run. */
  async repaired(): Promise<void> {
    this.#replicas += REPAIRING;
    await this.#workload.scale(this.#replicas);
    await this.#workload.ready(this.#replicas);
    await waitFor(
      'the split by nodes to be exact',
      async () => {
        const pods = await this.#workload.pods();
        return { onSpot: pods.filter(({ spec }) => spec.nodeName?.startsWith('spot-')).length };
      },
      { until: ({ onSpot }) => onSpot === this.#workload.exactly(this.#replicas).spot },
    );
  }

  async #run(): Promise<void> {
    for (;;) {
      const { spot } = await this.#workload.splitWhenCreated(this.#replicas);
      const off = Math.abs(spot - this.#workload.exactly(this.#replicas).spot);
      this.offTarget = Math.max(this.offTarget, off);
      for (const { replicas, reached } of this.#waiting) if (this.#replicas >= replicas) reached();
      if (this.#ending) return;
      this.#replicas += STEP;
      await this.#workload.scale(this.#replicas);
    }
  }
}
