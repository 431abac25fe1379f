import { describe, expect, it } from '@jest/globals';
import { unmanagedReasons } from '../../policy/managed.ts';
import {
  type Decided,
  type FactsByReason,
  held,
  type MoveFacts,
  type RebalanceReason,
  type Standing,
} from '../moves/verdict.ts';
import { rebalanceReasons } from '../moves/reason.ts';
import { explainRebalance, readOverride } from './rebalance.ts';

const standing: Standing = {
  numbers: { spotPercentage: 70, minOnDemand: 1 },
  replicas: 10,
  counts: { spot: 8, onDemand: 2 },
  untyped: 0,
  onUnknownNodes: 0,
  target: 7,
  drift: 1,
};
const untilMs = Date.UTC(2026, 3, 15, 22);
const move: MoveFacts = {
  pod: 'web-7',
  from: 'spot',
  to: 'on-demand',
  node: 'n1',
  evidence: 'n2',
  doom: null,
  ready: true,
};
const counts = { spot: 7, onDemand: 3 };
const facts: FactsByReason = {
  Unmanaged: { why: 'NotLabelled' },
  NoPolicy: {},
  InvalidPolicy: { messages: ['spotalis.io/spot-percentage: "x" is no number'] },
  ReadOnly: {},
  TakingOver: {},
  NodeDiffers: { pods: ['web-7'] },
  FallbackStarted: { waiting: 7, sinceMs: untilMs, removed: 7, told: false, nextProbeAtMs: untilMs },
  FallbackFound: { substitutes: 7, nextProbeAtMs: untilMs },
  FallbackGoesOn: { removed: 1, nextProbeAtMs: untilMs },
  StuckRemoved: { removed: 6, waiting: 7 },
  ReturnTried: { by: 'room', substitutes: 7 },
  ReturnGoesOn: { substitutes: 6 },
  FallbackEnded: { how: 'closed', sinceMs: untilMs, returnedSinceMs: untilMs },
  OnDemandShort: { waiting: 2, scheduled: 1, floor: 3 },
  NoFallback: { waiting: 7 },
  PodsUnscheduled: { waits: { NoSuchNode: 2, Volume: 1 } },
  PlacementOverridden: { failures: 3, to: 'on-demand', override: 'spec.nodeSelector["type"] is "spot"' },
  AwaitingSpot: { waiting: 7, until: 'substitutes' },
  InDrought: { sinceMs: untilMs, nextProbeAtMs: untilMs },
  ReturnUnderWay: {},
  Paused: {},
  LedgerUnreachable: { code: 'LEDGER_TIMEOUT' },
  WebhookNotServing: { detail: 'no ready endpoint' },
  WebhookBypassed: { nextTrialAtMs: untilMs },
  WorkloadDeleted: {},
  RolloutPaused: {},
  GenerationBehind: { generation: 4, observedGeneration: 3 },
  RolloutInProgress: { activeRevisions: 2, updated: 3, wanted: 10 },
  MoveInFlight: { inFlight: 1 },
  Cooldown: { untilMs, failures: 0 },
  WindowClosed: { window: 'workload', opensAtMs: untilMs },
  Balanced: {},
  CostOrder: { pods: 3 },
  Settling: { untilMs, change: 'policy' },
  PodsMissing: { pods: 9, wanted: 10 },
  LedgerDiffers: { ledger: counts, sharing: ['web-1', 'web-2'] },
  PlacementConflict: { to: 'on-demand' },
  NoCapacity: {
    to: 'on-demand',
    readyNodes: 0,
    misfits: {},
    placeholder: { kind: 'none' },
  },
  NotProvable: { to: 'on-demand', constraint: 'required podAffinity' },
  SingleReplica: {},
  OthersNotReady: { pods: ['web-0'] },
  NotAvailable: { available: 8, needed: 8, missing: 0 },
  FloorAtRisk: { scheduled: 1, floor: 1 },
  NoCandidate: { exclusions: [{ pod: 'web-7', reason: 'DoNotMove', untilMs: null }] },
  TwoPdbs: { pod: 'web-7', pdbs: ['a', 'b'] },
  PdbBehind: { pod: 'web-7', pdb: 'a' },
  PdbBlocks: { pod: 'web-7', pdb: 'a', healthy: 10, needed: 10, never: false },
  EvictionRefused: { message: 'the budget is 0.' },
  EvictionForbidden: { message: 'not allowed.' },
  EvictionFailed: { message: 'no answer.' },
  AnnotationRefused: { message: 'Pod web-7 cannot be annotated: denied.' },
  DefaultsDiffer: { nextTrialAtMs: untilMs },
  ReplacementsUnseen: { unseen: 3 },
  WorkloadBusy: { by: 'recycling', sinceMs: untilMs },
  BudgetSpent: { budget: 'cluster', used: 20, limit: 20 },
  FloorShort: move,
  FloorOrdinal: move,
  SpotSurplus: { ...move, pod: 'web-8' },
  OnDemandSurplus: { ...move, from: 'on-demand', to: 'spot' },
};

function sentence<Reason extends RebalanceReason>(
  reason: Reason,
  change: Partial<FactsByReason[Reason]> = {},
): string {
  const found = decidedFor(reason, { ...facts[reason], ...change });
  return explainRebalance({ ...found, standing, drought: 'closed', waiting: {} });
}

/** The reason and its facts come from one table, so that they belong together. */
function decidedFor(reason: RebalanceReason, its: object): Decided {
  return Object.assign(held('Balanced', {}), { reason, facts: its }) as Decided;
}

describe('the sentence on an override', () => {
  it('names the field, and can be read back from an Event', () => {
    const note = `PlacementOverridden: ${sentence('PlacementOverridden')}`;
    expect(note).toContain('spec.nodeSelector["type"] is "spot"');
    expect(readOverride(note)).toEqual(facts.PlacementOverridden);
    expect(readOverride(sentence('Balanced'))).toBeNull();
  });
});

describe('the sentence on a decision', () => {
  it('exists for every reason, each with its own words', () => {
    expect(Object.keys(facts).toSorted()).toEqual(rebalanceReasons.toSorted());
    const sentences = rebalanceReasons.map((reason) => sentence(reason));
    expect(new Set(sentences).size).toBe(rebalanceReasons.length);
    for (const one of sentences) {
      expect(one).toMatch(/^[A-Z][^\n]*\.$/);
      expect(one).not.toMatch(/undefined|\[object|NaN/);
    }
  });

  it('says which pod goes where and why', () => {
    expect(sentence('SpotSurplus')).toBe(
      'Moving web-8 on n1 from spot to on-demand, where n2 has room: 8 of 10 pods are on spot and 7 should be.',
    );
    expect(sentence('SpotSurplus', { doom: 'NodeInterrupted' })).toContain(
      'web-8 on n1, whose node is being taken away, from spot',
    );
    expect(sentence('FloorShort', { node: null, ready: false })).toBe(
      'Moving web-7, which is not ready, from spot to on-demand, where n2 has room: the floor is 1 and 8 of 10 pods are on spot and 7 should be.',
    );
  });

  it('says until when', () => {
    expect(sentence('WindowClosed')).toBe(
      "Held because the workload's window is closed until 2026-04-15T22:00:00Z.",
    );
    expect(sentence('WindowClosed', { window: 'both', opensAtMs: null })).toContain('no time within a year');
    expect(sentence('Cooldown', { failures: 2 })).toBe(
      'Held until 2026-04-15T22:00:00Z by the cooldown of the last move after 2 failed in a row.',
    );
  });

  it('says what is wrong with the nodes there are', () => {
    expect(sentence('NoCapacity')).toBe('Held because there is no ready on-demand node.');
    expect(sentence('NoCapacity', { placeholder: { kind: 'waiting', sinceMs: untilMs } })).toBe(
      'Held because there is no ready on-demand node; a placeholder has waited for one since 2026-04-15T22:00:00Z.',
    );
    expect(sentence('NoCapacity', { readyNodes: 5, misfits: { Room: 3, Taint: 2 } })).toBe(
      'Held because none of 5 ready on-demand nodes takes a new pod: 2 with a taint it does not tolerate, 3 without room for its requests.',
    );
  });

  it('says which types the pods rule out', () => {
    expect(sentence('PlacementConflict')).toContain('nodeSelector rules out on-demand.');
    expect(sentence('PlacementConflict', { to: null })).toContain('rules out both spot and on-demand.');
  });

  it('says when a PDB must be changed', () => {
    expect(sentence('PdbBlocks')).not.toContain('never');
    expect(sentence('PdbBlocks', { never: true })).toContain('It never allows an eviction: relax it.');
  });

  it('knows why a workload is not managed, and each of what a budget counts', () => {
    const unmanaged = unmanagedReasons.map((why) => sentence('Unmanaged', { why }));
    expect(new Set(unmanaged).size).toBe(unmanagedReasons.length);
    expect(sentence('BudgetSpent', { budget: 'minute' })).toBe(
      'Held because 20 moves are begun within a minute and the limit is 20.',
    );
  });

  it('names a few of thousands of pods', () => {
    const exclusions = Array.from({ length: 5_000 }, (_, index) => ({
      pod: `web-${index}`,
      reason: 'TooYoung' as const,
      untilMs: null,
    }));
    const told = explainRebalance({
      ...held('NoCandidate', { exclusions }),
      standing,
      drought: null,
      waiting: {},
    });
    expect(told).toMatch(/web-9 is younger than rebalance.minPodAge and 4990 more\.$/);
    expect(told.length).toBeLessThan(1_024);
  });
});
