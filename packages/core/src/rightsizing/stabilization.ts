/** What a request would have been over a span: only amounts that no later one exceeds, oldest first. */
export interface RecentAmounts {
  /** Since when amounts are known. */
  readonly sinceMs: number;
  readonly amounts: readonly { readonly atMs: number; readonly amount: number }[];
}

export function withRecent(
  recent: RecentAmounts | null,
  amount: number,
  spanMs: number,
  nowMs: number,
): RecentAmounts {
  const higher = (recent?.amounts ?? []).filter((each) => each.amount > amount && each.atMs > nowMs - spanMs);
  return { sinceMs: recent?.sinceMs ?? nowMs, amounts: [...higher, { atMs: nowMs, amount }] };
}

/** The highest of the span; null while less than the span is known. */
export function highestRecent(recent: RecentAmounts | null, spanMs: number, nowMs: number): number | null {
  if (recent === null || nowMs - recent.sinceMs < spanMs) return null;
  return Math.max(...recent.amounts.filter(({ atMs }) => atMs > nowMs - spanMs).map(({ amount }) => amount));
}
