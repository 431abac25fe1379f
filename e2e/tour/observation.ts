import type { ApiClient } from '@spotalis/cluster';
import { readPolicy, targetSpot } from '@spotalis/core';
import { isReady, type Pod, typeOf } from '../scenarios/workload.ts';
import { sampleNamespace, samples } from './samples.ts';
import type { Row } from './table.ts';

interface Scalable {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly replicas?: number };
}

const capacityLabel = 'karpenter.sh/capacity-type';

/** The sample workloads as the API server shows them now; nothing is asked of Spotalis itself. */
export async function observe(api: ApiClient): Promise<Row[]> {
  const pods = await api.list<Pod>('Pod', { namespace: sampleNamespace });
  const nodes = await api.list('Node');
  // What a pod runs on counts, whatever was asked for: one that bypassed the webhook asks for nothing.
  const typeOfNode = new Map(
    nodes.map(({ metadata }) => [metadata?.name ?? '', metadata?.labels?.[capacityLabel]]),
  );
  const rows: Row[] = [];
  for (const { kind, name } of samples) {
    const workload = await api.find<Scalable>(kind, `${sampleNamespace}/${name}`);
    if (workload === undefined) continue;
    const own = pods.filter(
      ({ metadata }) => metadata?.labels?.['app'] === name && metadata.deletionTimestamp === undefined,
    );
    const replicas = workload.spec.replicas ?? 1;
    const policy = readPolicy({
      workload: workload.metadata?.annotations ?? {},
      namespace: {},
      defaults: {},
    });
    if (policy.kind === 'none') continue;
    const { spotPercentage, minOnDemand } = policy.numbers;
    const target = targetSpot(policy.numbers, replicas);
    const types = own.map((pod) => typeOfNode.get(pod.spec.nodeName ?? '') ?? typeOf(pod));
    const spot = types.filter((type) => type === 'spot').length;
    const onDemand = types.filter((type) => type === 'on-demand').length;
    rows.push({
      workload: `${sampleNamespace}/${name}`,
      asked: `${spotPercentage} % spot, ${minOnDemand} must not`,
      replicas,
      spot: { actual: spot, target },
      onDemand: { actual: onDemand, target: replicas - target },
      unsteered: own.length - spot - onDemand,
      ready: own.filter(isReady).length,
    });
  }
  return rows;
}
