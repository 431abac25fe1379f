/** What holds of a reason, whichever module gives it. */
export interface SharedTraits {
  readonly means: string;
  /** Null: there is nothing to do, because it is as it should be, was asked for, or ends by itself. */
  readonly remedy: string | null;
  readonly alerts: object | null;
  /** As somebody wants it, or for want of spot capacity: meanwhile no repair is due. */
  readonly postpones?: true;
  /** It ends by itself and what it holds goes on, so a placeholder stays for it; or the placeholder's own time ends. */
  readonly passes?: true;
  /** It ends when the time of its verdict has come; other waits only look again. */
  readonly endsInTime?: true;
}

/** Reasons that all modules have in common. */
export const sharedReasons = {
  ReadOnly: {
    means: '`readOnlyMode` is on: decided, and nothing written',
    remedy: null,
    alerts: null,
    postpones: true,
  },
  WindowClosed: {
    means: "outside of the workload's window, or of the configuration's",
    remedy: '`explain` says when both are open',
    alerts: null,
    postpones: true,
    endsInTime: true,
  },
  TakingOver: {
    means:
      'a new leader is finding out what the one before it has begun; it decides already, and carries nothing out',
    remedy: null,
    alerts: null,
    passes: true,
  },
  WorkloadBusy: {
    means: 'another disruption of the workload is under way: there is one at a time, whoever asks for it',
    remedy: null,
    alerts: null,
    passes: true,
  },
  BudgetSpent: {
    means:
      '`rebalance.maxMovesPerMinute` or `maxInFlight` is reached, or in a drought `fallback.maxRemovalsPerMinute`',
    remedy: null,
    alerts: null,
    passes: true,
  },
} as const satisfies Readonly<Record<string, SharedTraits>>;
