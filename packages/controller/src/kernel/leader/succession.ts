import { type ApiClient, asError, type Lease, resource } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import { type Register, type Suspect, underWayUntilMs } from '../disruption/register.ts';
import { stateOf } from '../disruption/state.ts';
import type { Cluster } from '../cluster/cluster.ts';

const leases = resource<Lease>('coordination.k8s.io/v1', 'leases', 'Lease');
const READ_MS = 5_000;

export interface SuccessionParts {
  readonly cluster: Cluster;
  readonly register: Pick<Register, 'succeed' | 'startAfresh'>;
  readonly client: Pick<ApiClient, 'get'>;
  /** Undefined: it leads without a Lease, and nothing tells what was before. */
  readonly lease:
    | { readonly namespace: string; readonly name: string; readonly identity: string }
    | undefined;
  readonly moveTimeoutMs: () => number;
  readonly now: () => number;
  readonly logger: Logger;
}

/**
 * What a new leader takes over. It cannot know which moves its predecessor began, so it assumes all that what is to be
 * seen allows; unless the Lease shows that nobody led before.
 */
export function takeOver(parts: SuccessionParts): void {
  const { cluster, register, client, lease, moveTimeoutMs, now, logger } = parts;
  const nowMs = now();
  register.succeed(suspects(cluster, nowMs, moveTimeoutMs()), nowMs);
  if (lease === undefined) return;
  const { namespace, name, identity } = lease;
  client
    .get(leases, { namespace, name }, { once: true, deadlineMs: READ_MS })
    .then(({ spec }) => {
      // Made by this process or by an installer, and never held by another one.
      if (spec?.holderIdentity === identity && spec.leaseTransitions === 0) register.startAfresh();
    })
    .catch((thrown: unknown) => {
      logger.debug('the Lease does not tell whether there was a leader before', { error: asError(thrown) });
    });
}

function* suspects(cluster: Cluster, nowMs: number, moveTimeoutMs: number): Generator<Suspect> {
  for (const workload of cluster.workloads()) {
    if (!cluster.isManaged(workload)) continue;
    const untilMs = underWayUntilMs(stateOf(cluster, workload.metadata.uid), nowMs, moveTimeoutMs);
    if (untilMs <= nowMs) continue;
    const { uid, namespace = '' } = workload.metadata;
    const leaving = cluster.podsOf(workload).filter(({ terminating }) => terminating);
    const nodes = new Set(leaving.flatMap(({ nodeName }) => nodeName ?? []));
    yield { workloadUid: uid, namespace, untilMs, nodes: [...nodes] };
  }
}
