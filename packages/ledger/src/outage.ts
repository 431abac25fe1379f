import { type CapacityType, type PodCounts, type PolicyNumbers, targetSpot } from '@spotalis/core';

/** Which of how many webhook replicas this is. Any fixed guess does: it only spreads the ranks. */
export interface Lane {
  readonly index: number;
  readonly of: number;
}

/** What one replica remembers of one ReplicaSet while the ledger cannot be reached. */
export interface AloneState {
  readonly lane: Lane;
  /** 0 <= phase < 1 */
  readonly phase: number;
  /** No rank below it was left for this replica to give out. */
  readonly nextSpotRank: number;
  readonly nextOnDemandRank: number;
}

export interface AloneView {
  readonly policy: PolicyNumbers;
  /** From a LIST, plus this replica's own decisions of the last 5 s that the LIST does not show. */
  readonly counts: PodCounts;
  readonly replicas: number;
  readonly allowed: CapacityType | 'both';
  /** Spot is known to have no capacity: who would go there becomes a substitute. */
  readonly drought: boolean;
}

export interface AloneDecision {
  readonly type: CapacityType;
  readonly rank: number;
  readonly substitute: boolean;
  readonly state: AloneState;
}

/** `phase`: anywhere from 0 to 1, best at random, so that the replicas do not take the same steps. */
export function startAlone(lane: Lane, phase: number): AloneState {
  return { lane, phase, nextSpotRank: 0, nextOnDemandRank: 0 };
}

/** Multiples of it modulo 1 fall as evenly as can be, at any number of them. */
const goldenRatio = 0.618_033_988_749_895;

/**
 * Decides without the ledger: the floor first, and then the share of spot that is still wanted among the pods still
 * missing. Replicas that see the same deficit must not each repair the whole of it (by the rule of the ledger they
 * were up to 110 pods off), so each gives out its part of it in steps of the golden ratio, which needs no agreement.
 */
export function decideAlone(
  state: AloneState,
  { policy, counts, replicas, allowed, drought }: AloneView,
): AloneDecision {
  const existing = counts.spot + counts.onDemand + (counts.untyped ?? 0);
  // This very pod proves that there is room for one more.
  const wanted = Math.max(replicas, existing + 1);
  const share = (targetSpot(policy, wanted) - counts.spot) / (wanted - existing);
  const phase = (state.phase + goldenRatio) % 1;
  const byShare = counts.onDemand >= policy.minOnDemand && phase < share ? 'spot' : 'on-demand';
  const substitute = drought && allowed === 'both' && byShare === 'spot';
  const type = substitute ? 'on-demand' : allowed === 'both' ? byShare : allowed;

  // Ranks of different replicas differ modulo the number of lanes; two pods of one rank cost a patch each later.
  const { index, of } = state.lane;
  const least =
    type === 'spot'
      ? Math.max(state.nextSpotRank, counts.spot)
      : Math.max(state.nextOnDemandRank, counts.onDemand);
  const rank = least + ((((index - least) % of) + of) % of);
  return {
    type,
    rank,
    substitute,
    state: {
      lane: state.lane,
      phase,
      nextSpotRank: type === 'spot' ? rank + 1 : state.nextSpotRank,
      nextOnDemandRank: type === 'on-demand' ? rank + 1 : state.nextOnDemandRank,
    },
  };
}
