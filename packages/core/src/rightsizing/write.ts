import type { RecommendationStatus } from './workload-recommendation.ts';

/** A status without news is written this often, so that its times are not too old. */
const REFRESH_MS = 6 * 3_600_000;

/** What is worth a write at once: not times, percentiles and counts, which change on every cycle. */
function newsOf({
  observedGeneration,
  state,
  reason,
  apply,
  dryRun,
  containers,
}: Partial<RecommendationStatus>): string {
  const news = (containers ?? []).map((container) => {
    const { name, target, template, canary, limitRaised, floors } = container;
    const { eviction, oom } = floors ?? {};
    return { name, reason: container.reason, target, template, canary, limitRaised, eviction, oom };
  });
  return JSON.stringify({ observedGeneration, state, reason, apply, dryRun, news });
}

/** Whether the status is worth a write. `stored` is null where there is none yet. */
export function isWorthWriting(
  stored: Partial<RecommendationStatus> | null,
  next: RecommendationStatus,
  nowMs: number,
): boolean {
  if (stored === null || newsOf(stored) !== newsOf(next)) return true;
  return !(nowMs - Date.parse(stored.lastRecommendation ?? '') < REFRESH_MS);
}
