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

/** What the API server notes when whoever asked is gone. It may have done by then what it was asked for, or not. */
export const askerGone = 504;

const timeOf = ({ requestReceivedTimestamp }: AuditEvent): number => Date.parse(requestReceivedTimestamp);

const pathOf = ({ objectRef: { namespace = '', name = '' } = {} }: AuditEvent): string =>
  `${namespace}/${name}`;

/** A Deployment's pod without the hash of its ReplicaSet and its own. */
const workloadOf = (event: AuditEvent): string => pathOf(event).replace(/-[a-z0-9]+-[a-z0-9]+$/, '');

/**
 * Every move that came about, in the API server's own words and times: of Deployments whose pods get Ready at once, and
 * which nobody but their evictions ends.
 */
export class MoveLog {
  readonly moves: readonly LoggedMove[];
  /** Evictions that did not happen: whoever asked was gone before the API server had got to it. */
  readonly cutShort: number;

  constructor(log: AuditLog) {
    const granted: AuditEvent[] = [];
    const unheard: AuditEvent[] = [];
    const starts = new Map<string, { readonly name: string; readonly atMs: number }[]>();
    const started = new Set<string>();
    const ended = new Set<string>();
    for (const event of log.read(({ objectRef }) => objectRef?.resource === 'pods')) {
      const { objectRef: { subresource, name = '' } = {}, responseStatus: { code = 0 } = {} } = event;
      if (subresource === 'eviction' && code < 300) granted.push(event);
      if (subresource === 'eviction' && code === askerGone) unheard.push(event);
      if (!event.user.username.includes('kwok')) continue;
      // The fake kubelet's last word of a pod, and its first.
      if (event.verb === 'delete') ended.add(pathOf(event));
      if (subresource !== 'status' || event.verb !== 'patch' || started.has(pathOf(event))) continue;
      started.add(pathOf(event));
      const workload = workloadOf(event);
      starts.set(workload, [...(starts.get(workload) ?? []), { name, atMs: timeOf(event) }]);
    }
    const told = new Set(granted.map(pathOf));
    const untold = unheard.filter((event) => ended.has(pathOf(event)) && !told.has(pathOf(event)));
    this.cutShort = unheard.length - untold.length;
    this.moves = [...granted, ...untold]
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
