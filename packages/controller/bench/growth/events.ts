import type { RebalanceTrace, Standing } from '@spotalis/core';
import { Rooms } from '../../src/kernel/cluster/rooms.ts';
import { subjectOfWorkload } from '../../src/kernel/cluster/subject.ts';
import { Narrator } from '../../src/modules/distribution/report/narrator.ts';
import { followChanges } from '../../src/modules/distribution/triggers.ts';
import { aCluster, aNamespace, silent } from '../../src/testing/objects.ts';
import { fill, microseconds, nodeNameOf, placement, putNode, putPod } from './world.ts';

const EVENTS = 50;
const ROUNDS = 9;

/** One event of a pod and one of a node, while one workload in nine drifts, half of them to each type. */
export async function eventWork(pods: number) {
  const cluster = aCluster();
  const rooms = new Rooms(cluster);
  cluster.namespaces.upsert(aNamespace(), true);
  fill(cluster, pods);
  rooms.views(new Map());
  const narrator = new Narrator({
    recorder: { record: () => undefined },
    metrics: { blocked: () => undefined },
    logger: silent,
  });
  for (const [index, workload] of [...cluster.workloads()].entries()) {
    const drift = index % 9 === 0 ? (index % 4 < 2 ? 1 : -1) : 0;
    narrator.tell(subjectOfWorkload(workload), workload, traceOf(drift), 0);
  }
  const queued = new Set<string>();
  const queue = { add: (subject: string) => void queued.add(subject) };
  const leave = followChanges(cluster, queue, { drifting: () => narrator.drifting(), placement });
  const podEventUs = await microseconds(ROUNDS, EVENTS, (index) => {
    putPod(cluster, 'w1', 0, 'spot', nodeNameOf('spot', 1 + (index % 2)));
    rooms.views(new Map());
  });
  queued.clear();
  putNode(cluster, 'spot', 0, { pods: 120 });
  const nodeEventLooks = queued.size;
  const nodeEventUs = await microseconds(ROUNDS, EVENTS, (index) => {
    putNode(cluster, 'spot', 0, { pods: 110 + (index % 2) });
    rooms.views(new Map());
  });
  leave();
  return { podEventUs, nodeEventUs, nodeEventLooks };
}

function traceOf(drift: number): RebalanceTrace {
  const standing: Standing = {
    numbers: { spotPercentage: 50, minOnDemand: 0 },
    replicas: 10,
    counts: { spot: 5 + drift, onDemand: 5 - drift },
    untyped: 0,
    onUnknownNodes: 0,
    target: 5,
    drift,
  };
  const reason = drift === 0 ? 'Balanced' : 'SingleReplica';
  return { verdict: { kind: 'nothing' }, reason, facts: {}, standing, drought: null, waiting: {} };
}
