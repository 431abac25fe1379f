import type {
  Deferral,
  EvictIntent,
  ModuleName,
  PodReference,
  RemovalIntent,
  TakingOver,
} from '@spotalis/core';
import type { EventSpec } from '@spotalis/kube';
import type { Component } from '@spotalis/runtime';
import type { MetricSpec } from '@spotalis/units';
import type { Answer, Confirmed, Removed } from './disruption/executor.ts';
import type { Kernel } from './kernel.ts';
import type { DeclaredWatch } from './watch.ts';

/** A capability, as data and as what opens it. Everything that is listed of the service follows from the list of them. */
export interface Module {
  readonly name: ModuleName;
  /** Why it does something, or does not, beside the reasons that all modules share. */
  readonly reasons: Readonly<Record<string, { readonly means: string; readonly remedy: string | null }>>;
  readonly metrics: readonly MetricSpec[];
  readonly events: Readonly<Record<string, EventSpec>>;
  /** Its own resources, beside the stores that all modules share. Nothing but the module waits for them. */
  readonly watches: readonly DeclaredWatch[];
  open(kernel: Kernel): OpenModule;
}

export interface Decision<Trace, Effect> {
  /** What was decided and why: the one value that is reported. */
  readonly trace: Trace;
  /** What disturbs nobody, to be applied in this order before anything is asked for. */
  readonly effects: readonly Effect[];
  readonly intents: readonly Intent[];
  /** When to look again at the latest, if nothing changes. */
  readonly againAtMs: number | null;
}

/** What is asked of the kernel. */
export type Intent = EvictIntent | RemovalIntent;

export interface Applied {
  /** It showed something new, so that it is decided again before anything is asked for. */
  readonly decideAgain?: boolean;
  /** What was to be asked for must not be now. */
  readonly isHeld?: boolean;
  readonly againInMs?: number | undefined;
}

/** What became of an intent. */
export type Outcome =
  | { readonly kind: 'deferred'; readonly deferral: Deferral | TakingOver }
  | Exclude<Answer, { kind: 'deferred' }>
  | ({ readonly kind: 'removed' } & Removed);

export interface Settled<Trace, Effect> {
  /** As it stands now; another one than before is carried out in its place. */
  readonly decision: Decision<Trace, Effect>;
  readonly againInMs?: number | undefined;
}

/** Has a subject looked at, after so long. */
export type Touch = (
  subject: string,
  options?: { readonly afterMs?: number; readonly priority?: number },
) => void;

/**
 * A module at work, in the leader. A subject is what it decides about: `Deployment/shop/web`, a node. One look at one is:
 * read, observe, snapshot, decide, apply the effects, ask for the intents, report.
 */
export interface OpenModule<Snapshot = unknown, Trace = unknown, Effect = unknown> {
  /** Of its queue. Absent: one worker, under the name of the module. */
  readonly queue?: { readonly name: string; readonly workers: number };
  /** What it runs in every replica, leader or not, when the stores are full. */
  readonly components?: readonly Component[];
  /** What people should know although it is ready, by name. */
  readonly notes?: Readonly<Record<string, string>>;
  /** All there is to look at. */
  subjects(): Iterable<string>;
  /** Touches what a change in the stores concerns. Returns the way out. */
  follow(touch: Touch): () => void;
  /** What a look has to ask elsewhere. `grant`: an eviction is to be confirmed. From here to the decision nothing waits. */
  read?(subject: string, why: 'look' | 'grant'): Promise<void>;
  /** What a look changes in what is known, right before the snapshot: a move that is over, a pool. */
  observe?(subject: string): void;
  /** Everything that one decision rests on, from the stores of one moment; it writes nothing. Null: there is nothing to decide. */
  snapshot(subject: string, nowMs: number): Snapshot | null;
  /** Pure and total. */
  decide(snapshot: Snapshot, nowMs: number): Decision<Trace, Effect>;
  /** Asked once more before each write. Absent: always. */
  mayActOn?(subject: string): boolean;
  apply?(subject: string, effect: Effect, mayAct: () => boolean): Promise<Applied>;
  /** What a granted eviction brings along when a fresh look has confirmed it. Absent: nothing. */
  confirmed?(subject: string, intent: EvictIntent, trace: Trace): Omit<Confirmed, 'intent'>;
  /** A pod was removed on behalf of the subject. */
  removed?(subject: string, trace: Trace, pod: PodReference): void;
  settled(
    subject: string,
    decision: Decision<Trace, Effect>,
    intent: Intent,
    outcome: Outcome,
  ): Settled<Trace, Effect>;
  /** Says what was decided. Returns the milliseconds after which to look again at the latest, if any. */
  report(subject: string, trace: Trace, nowMs: number): number | undefined;
  /** There is nothing to decide about it, or no longer. Returns the same as `report`. */
  forget(subject: string): number | undefined;
  /** Begins to lead. Until it resolves nothing is carried out. What it resolves to is called at the end. */
  lead?(signal: AbortSignal): Promise<() => void | Promise<void>>;
  /** For people. */
  state?(): object;
}

/** How the kernel knows a subject among those of all modules. */
export const askerOf = (module: ModuleName, subject: string): string => `${module}/${subject}`;
