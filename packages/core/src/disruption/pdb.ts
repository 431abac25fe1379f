import { resolveFraction } from '../cluster/fraction.ts';
import type { PdbView } from '../cluster/pdb.ts';
import type { WorkloadPod } from '../cluster/workload-pod.ts';
import { selects } from '../policy/selector.ts';

/** What the API server would say to an eviction. */
export type PdbAnswer =
  | { readonly kind: 'allows'; readonly pdb: string | null }
  /** It refuses such a pod whatever the budgets are. */
  | { readonly kind: 'tooMany'; readonly pdbs: readonly string[] }
  /** Its status is of an older spec. */
  | { readonly kind: 'behind'; readonly pdb: string }
  | {
      readonly kind: 'blocks';
      readonly pdb: string;
      readonly healthy: number;
      readonly needed: number;
      /** It wants as many healthy pods as there are, so no eviction will ever be allowed. */
      readonly never: boolean;
    };

/** How many pods must stay healthy. Percentages are rounded up, of those unavailable too: as Kubernetes does. */
export function desiredHealthy(pdb: PdbView): number {
  const { minAvailable, maxUnavailable, expectedPods } = pdb;
  if (maxUnavailable !== null) {
    return Math.max(0, expectedPods - (resolveFraction(maxUnavailable, expectedPods, 'up') ?? 0));
  }
  if (minAvailable === null) return 0;
  // A text that is no percentage protects everything: the API server would not evict on it either.
  return resolveFraction(minAvailable, expectedPods, 'up') ?? expectedPods;
}

/** Evictions allowed now: what the status says, and no more than the spec gives on the same counts. */
export function disruptionsAllowed(pdb: PdbView): number {
  return Math.max(0, Math.min(pdb.disruptionsAllowed, pdb.currentHealthy - desiredHealthy(pdb)));
}

/** Whether this pod could be evicted now. */
export function askPdbs(pod: WorkloadPod, pdbs: readonly PdbView[]): PdbAnswer {
  const selecting = pdbs.filter(({ selector }) => selector !== null && selects(selector, pod.labels));
  const [pdb, ...others] = selecting;
  // The API server evicts Pending pods before it looks for PDBs.
  if (pdb === undefined || pod.phase === 'Pending') return { kind: 'allows', pdb: pdb?.name ?? null };
  if (others.length > 0) return { kind: 'tooMany', pdbs: selecting.map(({ name }) => name) };
  const { name, currentHealthy: healthy } = pdb;
  if (!pod.ready && pdb.unhealthyPodEvictionPolicy === 'AlwaysAllow') return { kind: 'allows', pdb: name };
  if (pdb.observedGeneration < pdb.generation) return { kind: 'behind', pdb: name };
  const needed = desiredHealthy(pdb);
  // An unhealthy pod costs no budget while enough others are healthy.
  if (!pod.ready && needed > 0 && healthy >= needed) return { kind: 'allows', pdb: name };
  if (disruptionsAllowed(pdb) > 0) return { kind: 'allows', pdb: name };
  return { kind: 'blocks', pdb: name, healthy, needed, never: needed >= pdb.expectedPods };
}
