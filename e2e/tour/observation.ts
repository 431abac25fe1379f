import type { ApiClient } from '@spotalis/cluster';
import { targetSpot } from '@spotalis/core';
import { isReady, type Pod, splitOf } from '../scenarios/workload.ts';
import { sampleNamespace, samples } from './samples.ts';
import type { Row } from './table.ts';

interface Scalable {
  readonly spec: { readonly replicas?: number };
}

/** The sample workloads as the API server shows them now; nothing is asked of Spotalis itself. */
export async function observe(api: ApiClient): Promise<Row[]> {
  const pods = await api.list<Pod>('Pod', { namespace: sampleNamespace });
  const rows: Row[] = [];
  for (const { kind, name, spotPercentage, minOnDemand } of samples) {
    const workload = await api.find<Scalable>(kind, `${sampleNamespace}/${name}`);
    if (workload === undefined) continue;
    const own = pods.filter(
      ({ metadata }) => metadata?.labels?.['app'] === name && metadata.deletionTimestamp === undefined,
    );
    const replicas = workload.spec.replicas ?? 1;
    const target = targetSpot({ spotPercentage, minOnDemand }, replicas);
    const { spot, onDemand, unsteered } = splitOf(own);
    rows.push({
      workload: `${sampleNamespace}/${name}`,
      asked: `${spotPercentage} % spot, ${minOnDemand} must not`,
      replicas,
      spot: { actual: spot, target },
      onDemand: { actual: onDemand, target: replicas - target },
      unsteered,
      ready: own.filter(isReady).length,
    });
  }
  return rows;
}
