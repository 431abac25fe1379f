import type { AuditEvent, AuditLog } from '@spotalis/cluster';

/** One move as the API server's log tells it: from the eviction until a new pod of the workload reports for duty. */
interface LoggedMove {
  readonly pod: string;
  readonly namespace: string;
  /** `namespace/name` of its workload. */
  readonly workload: string;
  readonly fromMs: number;
  /** Infinity while no replacement has come. */
  readonly toMs: number;
}

const timeOf = ({ requestReceivedTimestamp }: AuditEvent): number => Date.parse(requestReceivedTimestamp);

/** A Deployment's pod without the hash of its ReplicaSet and its own. */
const workloadOf = ({ objectRef: { namespace = '', name = '' } = {} }: AuditEvent): string =>
  `${namespace}/${name.replace(/-[a-z0-9]+-[a-z0-9]+$/, '')}`;

/** Every move that the API server took, in its own words and times: of Deployments whose pods get Ready at once. */
export class MoveLog {
  readonly moves: readonly LoggedMove[];
  /** Evictions that did not happen: whoever asked was gone before the API server had got to it. */
  readonly cutShort: number;

  constructor(log: AuditLog) {
    const evictions: AuditEvent[] = [];
    const starts = new Map<string, { readonly name: string; readonly atMs: number }[]>();
    const started = new Set<string>();
    let cutShort = 0;
    for (const event of log.read(({ objectRef }) => objectRef?.resource === 'pods')) {
      const { objectRef: { subresource, namespace = '', name = '' } = {}, responseStatus } = event;
      if (subresource === 'eviction' && (responseStatus?.code ?? 0) < 300) evictions.push(event);
      if (subresource === 'eviction' && responseStatus?.code === 504) cutShort += 1;
      // The fake kubelet's first word of a pod.
      if (subresource !== 'status' || event.verb !== 'patch' || !event.user.username.includes('kwok'))
        continue;
      if (started.has(`${namespace}/${name}`)) continue;
      started.add(`${namespace}/${name}`);
      const workload = workloadOf(event);
      starts.set(workload, [...(starts.get(workload) ?? []), { name, atMs: timeOf(event) }]);
    }
    this.cutShort = cutShort;
    this.moves = evictions
      .map((event) => {
        const workload = workloadOf(event);
        const { namespace = '', name: pod = '' } = event.objectRef ?? {};
        const fromMs = timeOf(event);
        const next = (starts.get(workload) ?? []).filter(({ atMs }) => atMs > fromMs);
        return { pod, namespace, workload, fromMs, toMs: Math.min(...next.map(({ atMs }) => atMs)) };
      })
      .toSorted((a, b) => a.fromMs - b.fromMs);
  }

  /** The most moves that were under way at once in one of the groups. */
  most(groupOf: (move: LoggedMove) => string): number {
    const counts = this.moves.map(
      ({ fromMs, ...move }) =>
        this.moves.filter(
          (other) =>
            other.fromMs <= fromMs && other.toMs > fromMs && groupOf(other) === groupOf({ fromMs, ...move }),
        ).length,
    );
    return Math.max(0, ...counts);
  }

  /** The most moves that began within so long. */
  mostWithin(periodMs: number): number {
    const times = this.moves.map(({ fromMs }) => fromMs);
    return Math.max(
      0,
      ...times.map((from) => times.filter((at) => at >= from && at < from + periodMs).length),
    );
  }

  /** The longest time in which no move began. */
  get longestPauseMs(): number {
    const times = this.moves.map(({ fromMs }) => fromMs);
    return Math.max(0, ...times.slice(1).map((at, index) => at - (times[index] ?? at)));
  }
}
