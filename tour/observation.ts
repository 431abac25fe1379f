import type { ApiClient, KubeObject } from '@spotalis/cluster';
import {
  enabledLabel,
  type LabelSelector,
  type PolicyReading,
  readPolicy,
  selects,
  targetSpot,
} from '@spotalis/core';

import { isReady, type Pod, typeOf } from '@spotalis/e2e/workloads';
import { isInOrder } from './order.ts';
import { sampleNamespace, samples } from './samples.ts';
import type { Row } from './table.ts';

interface Scalable extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly selector: LabelSelector };
}

const capacityLabel = 'karpenter.sh/capacity-type';
const optedIn = `${enabledLabel}=true`;

/** More would not fit under each other. */
const mostOwn = 6;

/** The sample workloads as the API server shows them now; nothing is asked of Spotalis itself. */
export async function observe(api: ApiClient): Promise<Row[]> {
  return describe(api, await sampleWorkloads(api));
}

/** The samples, and whatever else somebody has labelled. */
export async function observeAll(api: ApiClient): Promise<Row[]> {
  const shown = await sampleWorkloads(api);
  const known = new Set(shown.map(({ metadata }) => metadata?.uid));
  const labelled = await Promise.all(
    ['Deployment', 'StatefulSet'].map((kind) => api.list<Scalable>(kind, { labelSelector: optedIn })),
  );
  const own = labelled.flat().filter(({ metadata }) => !known.has(metadata?.uid));
  return describe(api, [...shown, ...own.slice(0, mostOwn)]);
}

async function sampleWorkloads(api: ApiClient): Promise<Scalable[]> {
  const found = await Promise.all(
    samples.map(({ kind, name }) => api.find<Scalable>(kind, `${sampleNamespace}/${name}`)),
  );
  return found.filter((each) => each !== undefined);
}

async function describe(api: ApiClient, workloads: readonly Scalable[]): Promise<Row[]> {
  const names = [...new Set(workloads.map(({ metadata }) => metadata?.namespace ?? ''))];
  const [nodes, namespaces, pods] = await Promise.all([
    api.list('Node'),
    Promise.all(names.map((name) => api.find('Namespace', name))),
    Promise.all(names.map((namespace) => api.list<Pod>('Pod', { namespace }))),
  ]);
  // What a pod runs on counts, whatever was asked for: one that bypassed the webhook asks for nothing.
  const typeOfNode = new Map(
    nodes.map(({ metadata }) => [metadata?.name ?? '', metadata?.labels?.[capacityLabel]]),
  );
  return workloads.map((workload) => {
    const at = names.indexOf(workload.metadata?.namespace ?? '');
    const own = (pods[at] ?? []).filter(
      ({ metadata, status }) =>
        metadata?.deletionTimestamp === undefined &&
        status.phase !== 'Succeeded' &&
        status.phase !== 'Failed' &&
        selects(workload.spec.selector, metadata?.labels ?? {}),
    );
    const types = own.map((pod) => typeOfNode.get(pod.spec.nodeName ?? '') ?? typeOf(pod));
    return rowOf(workload, namespaces[at], own, types);
  });
}

function rowOf(
  { metadata, spec: { replicas = 1 } }: Scalable,
  namespace: KubeObject | undefined,
  pods: readonly Pod[],
  types: readonly (string | undefined)[],
): Row {
  const policy = readPolicy({
    workload: metadata?.annotations ?? {},
    namespace: namespace?.metadata?.annotations ?? {},
    defaults: {},
  });
  const numbers = policy.kind === 'none' ? { spotPercentage: 0, minOnDemand: 0 } : policy.numbers;
  const target = targetSpot(numbers, replicas);
  const spot = types.filter((type) => type === 'spot').length;
  const onDemand = types.filter((type) => type === 'on-demand').length;
  const asked = {
    none: 'nothing',
    invalid: 'unreadable: no spot',
    frozen: `${numbers.spotPercentage} % spot, no moves`,
    valid: `${numbers.spotPercentage} % spot, ${numbers.minOnDemand} must not`,
  };
  return {
    workload: `${metadata?.namespace}/${metadata?.name}`,
    asked: asked[policy.kind],
    replicas,
    spot: { actual: spot, target },
    onDemand: { actual: onDemand, target: replicas - target },
    unsteered: types.length - spot - onDemand,
    ready: pods.filter(isReady).length,
    isInOrder: isInOrder(numbers, pods),
    untouched: reasonToLeave(metadata, namespace?.metadata, policy),
  };
}

function reasonToLeave(
  workload: KubeObject['metadata'],
  namespace: KubeObject['metadata'],
  { kind }: PolicyReading,
): string | undefined {
  if (workload?.labels?.[enabledLabel] !== 'true') return 'it has no label';
  if (namespace?.labels?.[enabledLabel] !== 'true') return 'its namespace has no label';
  return kind === 'none' ? 'it has no annotation' : undefined;
}
