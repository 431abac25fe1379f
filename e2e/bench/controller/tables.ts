import type { Table } from '../bench.ts';
import { churnedAtOnce, type Churned, type Failover, type Latency } from './motion.ts';
import type { Observation, Rest } from './observation.ts';

/** What was measured over so many workloads. */
export interface Sized {
  readonly workloads: number;
  readonly pods: number;
  readonly observation: Observation;
  readonly latency: Latency;
}

const measures: readonly { readonly title: string; readonly of: (observed: Observation) => number }[] = [
  { title: 'From start to ready, s', of: ({ secondsToReady }) => secondsToReady },
  { title: 'From then until each was looked at, s', of: ({ secondsToSwept }) => secondsToSwept },
  { title: 'CPU until ready, s', of: ({ cpuSecondsToReady }) => cpuSecondsToReady },
  { title: 'Memory at rest (RSS), MiB', of: ({ rssMiB: memory }) => memory },
  {
    title: 'Of that pages of the program, which all Node processes share',
    of: ({ filesMiB: shared }) => shared,
  },
  { title: 'CPU at rest, %', of: ({ cpuPercentAtRest }) => cpuPercentAtRest },
  { title: 'Writes a minute at rest: the Lease', of: ({ leaseWritesPerMinute }) => leaseWritesPerMinute },
  { title: 'Writes a minute at rest: all else', of: ({ otherWritesPerMinute }) => otherWritesPerMinute },
  { title: 'Reads a minute at rest', of: ({ readsPerMinute }) => readsPerMinute },
];

const latencies: readonly { readonly title: string; readonly of: (latency: Latency) => number }[] = [
  { title: 'From event to decision, p50, ms', of: ({ p50Ms }) => p50Ms },
  { title: 'From event to decision, p99, ms', of: ({ p99Ms }) => p99Ms },
];

export function sizesTable(idle: Observation, sizes: readonly Sized[], rest: Rest): Table {
  const changes = sizes.at(-1)?.latency.changes ?? 0;
  const columns = sizes.map(({ workloads, pods }) => ({
    key: String(workloads),
    title: `${workloads.toLocaleString('en-US')} workloads, ${pods.toLocaleString('en-US')} pods`,
  }));
  const row = (title: string, of: (one: Sized) => number, atIdle: number | null) => ({
    measure: title,
    idle: atIdle,
    ...Object.fromEntries(sizes.map((one) => [String(one.workloads), of(one)])),
  });
  return {
    title: 'One leader',
    method: `Started alone over each. Three webhook replicas had admitted the pods, which stay pending, so that only the controller works. Ready: /readyz says so, which takes synced stores. At rest: ${rest.forMs / 1000} s that begin ${rest.afterMs / 1000} s after the last workload was looked at (the first minute has a LIST of each ReplicaSet, and so has each minute about a fifteenth of them afterwards); requests from the API server's audit log, CPU and memory from /proc. From event to decision: ${changes} changes of a policy, one every 20 ms, from the request's start to the line with the new targets in the leader's log; events of pods are taken together for half a second, on top.`,
    columns: [{ key: 'measure', title: 'Measure' }, { key: 'idle', title: 'Empty cluster' }, ...columns],
    rows: [
      ...measures.map(({ title, of }) => row(title, ({ observation }) => of(observation), of(idle))),
      ...latencies.map(({ title, of }) => row(title, ({ latency }) => of(latency), null)),
    ],
  };
}

export function motionTable(
  workloads: number,
  idle: Observation,
  churned: Churned,
  failover: Failover,
): Table {
  const rows: readonly (readonly [string, number])[] = [
    ['Memory after the churn (RSS), MiB', churned.rssMiB],
    ['Of that above the empty cluster, MiB', churned.rssMiB - idle.rssMiB],
    ['Wait for a worker, p99 at most, ms', churned.waitP99Ms],
    ['A look with its decision, p99 at most, ms', churned.lookP99Ms],
    ['From kill -9 to the first look of the standby, s', failover.secondsToLeading],
    ['From kill -9 until it has looked at each, s', failover.secondsToSwept],
    ['Memory of the standby (RSS), MiB', failover.standbyRssMiB],
  ];
  return {
    title: `${workloads.toLocaleString('en-US')} workloads in motion, and a leader that dies`,
    method: `The churn, after what is above: ${churned.pods.toLocaleString('en-US')} pods, as many as an hour may replace, went and came again in ${Math.round(churned.seconds)} s of scaling workloads to 0 and back, ${churnedAtOnce} at a time; then 15 s of calm. Percentiles as the bucket of the histogram they are in, since the start. Then a standby was started, and the leader killed when it was ready; the Lease lasts 15 s.`,
    columns: [
      { key: 'measure', title: 'Measure' },
      { key: 'value', title: 'Value' },
    ],
    rows: rows.map(([measure, value]) => ({ measure, value })),
  };
}
