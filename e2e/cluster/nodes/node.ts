import { FAKE_NODE_ANNOTATION } from '../kwok/stages.ts';

export type CapacityType = 'spot' | 'on-demand';

export const CAPACITY_LABEL = 'karpenter.sh/capacity-type';
const ZONES = ['a', 'b', 'c'];
const REGION = 'test-1';

export interface NodePlan {
  readonly spotNodes: number;
  readonly onDemandNodes: number;
  readonly podsPerNode: number;
  /** On top of those a Karpenter node has; a value of null takes a label away. */
  readonly nodeLabels: (type: CapacityType) => Readonly<Record<string, string | null>>;
}

/** What an object of the API looks like where this package makes or reads one. */
export interface NodeObject {
  readonly apiVersion: 'v1';
  readonly kind: 'Node';
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly taints?: readonly Taint[]; readonly unschedulable?: boolean };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly capacity?: Readonly<Record<string, string>>;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  };
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/** `spot-1`, `spot-2`, ... and `on-demand-1`, ..., each type dealt out over the zones. */
export function planNodes(plan: NodePlan): NodeObject[] {
  const counts = { spot: plan.spotNodes, 'on-demand': plan.onDemandNodes };
  const types: CapacityType[] = ['spot', 'on-demand'];
  return types.flatMap((type) =>
    Array.from({ length: counts[type] }, (_, index) => fakeNode(type, index, plan)),
  );
}

function fakeNode(type: CapacityType, index: number, { podsPerNode, nodeLabels }: NodePlan): NodeObject {
  const name = `${type}-${index + 1}`;
  const labels: Record<string, string | null> = {
    [CAPACITY_LABEL]: type,
    'karpenter.sh/nodepool': type,
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'node.kubernetes.io/instance-type': 'test.16xlarge',
    'topology.kubernetes.io/region': REGION,
    'topology.kubernetes.io/zone': `${REGION}${ZONES[index % ZONES.length] ?? ''}`,
    ...nodeLabels(type),
  };
  const resources = {
    cpu: '1000',
    memory: '4000Gi',
    'ephemeral-storage': '1000Gi',
    pods: String(podsPerNode),
  };
  const address = `10.${type === 'spot' ? 1 : 2}.${Math.floor(index / 250)}.${(index % 250) + 1}`;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: Object.fromEntries(
        Object.entries(labels).filter((entry): entry is [string, string] => entry[1] !== null),
      ),
      annotations: { [FAKE_NODE_ANNOTATION.name]: FAKE_NODE_ANNOTATION.value },
    },
    spec: {},
    status: {
      capacity: resources,
      allocatable: resources,
      addresses: [
        { type: 'Hostname', address: name },
        { type: 'InternalIP', address },
      ],
    },
  };
}
