import { foreignKeys } from '../policy/keys.ts';
import { podRequests, type RequestingContainer, type RequestingSpec } from './resources.ts';
import type { TemplateSpec, TemplateView } from './workload.ts';
import { ownAnnotations } from './metadata.ts';

interface RawContainer extends RequestingContainer {
  readonly ports?: readonly { readonly hostPort?: number }[] | null;
}

/** A pod template as the API server sends it. */
export interface RawTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: TemplateSpec &
    Omit<RequestingSpec, 'containers' | 'initContainers'> & {
      readonly hostNetwork?: boolean;
      readonly containers?: readonly RawContainer[] | null;
      readonly initContainers?: readonly RawContainer[] | null;
    };
}

/** What says where a new pod could go and how much room it takes; nothing of what it runs. */
export function pruneTemplate({ metadata, spec }: RawTemplate): TemplateView {
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints } = spec ?? {};
  const cost = metadata?.annotations?.[foreignKeys.podDeletionCost];
  return {
    metadata: {
      labels: metadata?.labels ?? {},
      annotations: {
        ...ownAnnotations(metadata ?? {}),
        ...(cost === undefined ? {} : { [foreignKeys.podDeletionCost]: cost }),
      },
    },
    spec: {
      nodeSelector: nodeSelector ?? null,
      affinity: affinity ?? null,
      tolerations: tolerations ?? null,
      topologySpreadConstraints: topologySpreadConstraints ?? null,
    },
    requests: podRequests(spec ?? {}),
    hostPort: takesHostPort(spec ?? {}),
  };
}

/** On the node's own network every port is the node's, which the API server writes on pods only. */
function takesHostPort({
  hostNetwork,
  containers,
  initContainers,
}: NonNullable<RawTemplate['spec']>): boolean {
  const ports = [...(containers ?? []), ...(initContainers ?? [])].flatMap(
    (container) => container.ports ?? [],
  );
  return ports.some(({ hostPort }) => hostNetwork || hostPort);
}
