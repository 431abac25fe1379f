import {
  addResources,
  type BudgetUse,
  type EvictIntent,
  type ModuleName,
  type ObservedPod,
  type Rank,
  ranks,
  type RegisterView,
  type Resources,
  type Spent,
  type UnderWay,
} from '@spotalis/core';
import type { Victim, WorkloadState } from './state.ts';

/** `superseded`: it was scaled down meanwhile, so that no replacement is needed. `lost`: never carried out. */
export type DisruptionResult = 'succeeded' | 'failed' | 'timeout' | 'superseded' | 'lost';

/** What the module that asked for a disruption has to say about it while it is under way. */
export interface DisruptionHooks {
  /** Asked when it was granted and confirmed, right before the eviction. False: the budget is given back. */
  readonly mayBegin?: () => boolean;
  /** The eviction is about to be sent. Returns what to call if the API server refuses it. */
  readonly began?: () => () => void;
  /**
   * Asked when the pod goes, with all pods that were not there before. Undefined: it goes on. In its place the kernel
   * waits until the pod is gone and as many pods are Ready as before.
   */
  readonly judge?: (fresh: readonly ObservedPod[]) => 'succeeded' | 'failed' | undefined;
  readonly ended?: (result: DisruptionResult, lastedMs: number) => void;
  /** For people. */
  readonly shown?: () => object;
}

/** A disruption that this process is about to begin. */
export interface Beginning {
  readonly intent: EvictIntent;
  /** The workload as it is now: whatever pod comes beside those that there are is the replacement. */
  readonly before: WorkloadState;
  /** Where its replacement was found to fit, and the room it takes there; null: nobody looked. */
  readonly room: { readonly node: string; readonly requests: Resources } | null;
  readonly hooks: DisruptionHooks;
}

/** Granted, and not begun: it is still to be confirmed by a fresh look. */
interface Reserved {
  readonly kind: 'reserved';
  readonly intent: EvictIntent;
  readonly beganAtMs: number;
  readonly spent: Spent;
}

interface Own extends Beginning {
  readonly kind: 'own';
  readonly beganAtMs: number;
  readonly spent: Spent;
  /** Whether the API server took the eviction. `unknown`: its answer was lost. */
  eviction: 'asked' | 'taken' | 'unknown';
  /** When the pod was first seen to be gone, of a workload that nobody watches. */
  goneAtMs: number | null;
}

/** A workload of which a move may be under way when this process begins to lead. */
export interface Suspect {
  readonly workloadUid: string;
  readonly namespace: string;
  /** As `underWayUntilMs` has it. */
  readonly untilMs: number;
  /** Those that a pod of it is leaving: each may be the one of the victim. Of a pod that has left nobody knows. */
  readonly nodes: readonly string[];
}

/** What a predecessor may have left behind. */
interface Inherited extends Suspect {
  readonly kind: 'inherited';
  readonly beganAtMs: number;
  untilMs: number;
}

export interface Ended {
  readonly result: DisruptionResult;
  /** Undefined where another process began it. */
  readonly begun: Beginning | undefined;
  readonly lastedMs: number;
}

/** An eviction whose answer was lost shows on its pod within this time, or did not happen. */
const ANSWER_MS = 15_000;
/** Much longer than a ReplicaSet takes to make up for a pod. */
const ARRIVAL_MS = 30_000;
/** After a pod whose owner nobody watches: its replacement is taken to be there. */
const UNWATCHED_MS = 60_000;
const MINUTE_MS = 60_000;
/** No arbitration looks further back. */
const TURNS_KEPT = 10;

/** What is under way, what it leaves behind, and what the last minute has spent. */
export class Register {
  /** By UID of the workload: one at a time. */
  readonly #underWay = new Map<string, Reserved | Own | Inherited>();
  #begun: Spent[] = [];
  #removed: Spent[] = [];
  #turns: Rank[] = [];
  /** Before this nothing is known of what a predecessor did. */
  #ledSinceMs: number | undefined;

  /**
   * A leader after another begins as if everything allowed had just been used: the minute's moves, each cooldown,
   * and one move for each workload that looks as if one were under way.
   */
  succeed(suspects: Iterable<Suspect>, nowMs: number): void {
    this.#ledSinceMs = nowMs;
    for (const one of suspects) {
      this.#underWay.set(one.workloadUid, { ...one, kind: 'inherited', beganAtMs: nowMs });
    }
  }

  /** Nobody led before: there is nothing to be careful of. */
  startAfresh(): void {
    this.#ledSinceMs = undefined;
    for (const [uid, { kind }] of this.#underWay) if (kind === 'inherited') this.#underWay.delete(uid);
  }

  /** An eviction was granted: from now on it spends the budgets, although a fresh look has still to confirm it. */
  reserve(intent: EvictIntent, nowMs: number): void {
    const { uid, namespace } = intent.workload;
    const spent = { namespace, atMs: nowMs };
    this.#underWay.set(uid, { kind: 'reserved', intent, beganAtMs: nowMs, spent });
    this.#begun = [...recent(this.#begun, nowMs), spent];
    if (intent.rank !== ranks.interruption) this.#turns = [...this.#turns, intent.rank].slice(-TURNS_KEPT);
  }

  /** What is reserved for the workload. */
  reservationOf(workloadUid: string): EvictIntent | undefined {
    const found = this.#underWay.get(workloadUid);
    return found?.kind === 'reserved' ? found.intent : undefined;
  }

  /** Drops reservations that nobody confirmed. */
  expire(reservedBeforeMs: number): void {
    for (const [uid, { kind, beganAtMs }] of this.#underWay) {
      if (kind === 'reserved' && beganAtMs < reservedBeforeMs) this.cancel(uid);
    }
  }

  /** What was reserved is about to be carried out. False: it is not reserved any more. */
  begin(beginning: Beginning, nowMs: number): boolean {
    const { uid } = beginning.intent.workload;
    const reserved = this.#underWay.get(uid);
    if (reserved?.kind !== 'reserved') return false;
    const { spent } = reserved;
    this.#underWay.set(uid, {
      ...beginning,
      kind: 'own',
      beganAtMs: nowMs,
      spent,
      eviction: 'asked',
      goneAtMs: null,
    });
    return true;
  }

  /** The API server has taken the eviction, or may have. */
  sent(workloadUid: string, eviction: 'taken' | 'unknown'): void {
    const disruption = this.#underWay.get(workloadUid);
    if (disruption?.kind === 'own') disruption.eviction = eviction;
  }

  /** It was refused or not confirmed, so nothing has happened. */
  cancel(workloadUid: string): void {
    const disruption = this.#underWay.get(workloadUid);
    if (disruption === undefined || disruption.kind === 'inherited') return;
    this.#underWay.delete(workloadUid);
    this.#begun = this.#begun.filter((one) => one !== disruption.spent);
  }

  /** Counts the removal of a pod that never ran. Nobody waits for its replacement. */
  removing(namespace: string, nowMs: number): Spent {
    const spent = { namespace, atMs: nowMs };
    this.#removed = [...recent(this.#removed, nowMs), spent];
    return spent;
  }

  /** The pod stays after all. */
  giveBack(removal: Spent): void {
    this.#removed = this.#removed.filter((one) => one !== removal);
  }

  /**
   * What `arbitrate` goes by. Removals are harmless to whoever took over, because those pods never ran: a new leader
   * begins with none.
   */
  view(maxMovesPerMinute: number, nowMs: number): RegisterView {
    const ledSinceMs = this.#ledSinceMs;
    const inherited =
      ledSinceMs === undefined || ledSinceMs <= nowMs - MINUTE_MS
        ? []
        : Array.from({ length: maxMovesPerMinute }, () => ({ namespace: '', atMs: ledSinceMs }));
    return {
      underWay: new Map([...this.#underWay].map(([uid, disruption]) => [uid, underWayOf(disruption)])),
      begun: [...inherited, ...this.#begun],
      removed: this.#removed,
      turns: this.#turns,
    };
  }

  /** Whether it is over, by what the workload is now. */
  follow(
    workloadUid: string,
    state: WorkloadState,
    limits: { readonly moveTimeoutMs: number; readonly nowMs: number },
  ): Ended | undefined {
    const disruption = this.#underWay.get(workloadUid);
    if (disruption === undefined || disruption.kind === 'reserved') return undefined;
    // The answer decides whether it began at all.
    if (disruption.kind === 'own' && disruption.eviction === 'asked') return undefined;
    const { nowMs, moveTimeoutMs } = limits;
    const lastedMs = nowMs - disruption.beganAtMs;
    const found =
      disruption.kind === 'inherited'
        ? inheritedResult(disruption, state, limits)
        : resultOf(disruption, state, nowMs);
    const result = found ?? (lastedMs >= moveTimeoutMs ? 'timeout' : undefined);
    if (result === undefined) return undefined;
    if (result === 'lost') this.cancel(workloadUid);
    else this.#underWay.delete(workloadUid);
    return { result, begun: disruption.kind === 'own' ? disruption : undefined, lastedMs };
  }

  /** When the disruption of a workload has to be looked at again at the latest. */
  nextLookMs(workloadUid: string, moveTimeoutMs: number): number | undefined {
    const disruption = this.#underWay.get(workloadUid);
    if (disruption === undefined || disruption.kind === 'reserved') return undefined;
    if (disruption.kind === 'inherited')
      return Math.min(disruption.untilMs, disruption.beganAtMs + moveTimeoutMs);
    if (disruption.goneAtMs !== null) return disruption.goneAtMs + UNWATCHED_MS;
    const waitsForAnswer = disruption.eviction === 'unknown';
    return disruption.beganAtMs + (waitsForAnswer ? Math.min(ANSWER_MS, moveTimeoutMs) : moveTimeoutMs);
  }

  /** When this process began to lead; undefined: nobody led before. */
  get tookOverAtMs(): number | undefined {
    return this.#ledSinceMs;
  }

  /** The workloads with one under way. */
  get workloads(): readonly string[] {
    return [...this.#underWay].filter(([, { kind }]) => kind !== 'reserved').map(([uid]) => uid);
  }

  /**
   * What matters to a module's choice of a pod of this workload. What is reserved for the workload itself is left out, because
   * it is this choice that confirms it.
   */
  use(workloadUid: string, module: ModuleName): Omit<BudgetUse, 'spent'> {
    const nodes = new Map<string, number>();
    for (const [uid, disruption] of this.#underWay) {
      if (disruption.kind === 'reserved' && uid === workloadUid) continue;
      for (const node of nodesOf(disruption)) nodes.set(node, (nodes.get(node) ?? 0) + 1);
    }
    const own = this.#underWay.get(workloadUid);
    const isOwn = own?.kind === 'inherited' || (own?.kind === 'own' && own.intent.module === module);
    return { workload: isOwn ? 1 : 0, nodes };
  }

  /** Room that replacements still to be scheduled will take. */
  promised(): ReadonlyMap<string, Resources> {
    const promised = new Map<string, Resources>();
    for (const disruption of this.#underWay.values()) {
      if (disruption.kind !== 'own' || disruption.room === null) continue;
      const { node, requests } = disruption.room;
      promised.set(node, addResources(promised.get(node) ?? {}, requests));
    }
    return promised;
  }

  /** Without those that are only reserved. */
  get count(): number {
    return [...this.#underWay.values()].filter(({ kind }) => kind !== 'reserved').length;
  }

  /** The pod that was evicted, or is about to be; undefined where another process began it. */
  victimOf(workloadUid: string): Victim | undefined {
    const disruption = this.#underWay.get(workloadUid);
    if (disruption === undefined || disruption.kind === 'inherited') return undefined;
    const { pod, workload } = disruption.intent;
    return { namespace: workload.namespace, name: pod.name, uid: pod.uid };
  }

  has(workloadUid: string): boolean {
    const disruption = this.#underWay.get(workloadUid);
    return disruption !== undefined && disruption.kind !== 'reserved';
  }

  /** For people. */
  state(): unknown {
    return [...this.#underWay.values()].map((disruption) => ({
      workloadUid: disruption.kind === 'inherited' ? disruption.workloadUid : disruption.intent.workload.uid,
      beganAt: new Date(disruption.beganAtMs).toISOString(),
      ...shownOf(disruption),
    }));
  }
}

function nodesOf(disruption: Reserved | Own | Inherited): readonly string[] {
  if (disruption.kind === 'inherited') return disruption.nodes;
  const { node } = disruption.intent;
  return node === null ? [] : [node];
}

function underWayOf(disruption: Reserved | Own | Inherited): UnderWay {
  const common = { nodes: nodesOf(disruption), sinceMs: disruption.beganAtMs };
  if (disruption.kind === 'inherited') {
    return { ...common, module: null, namespace: disruption.namespace, podUid: null };
  }
  const { module, workload, pod } = disruption.intent;
  return { ...common, module, namespace: workload.namespace, podUid: pod.uid };
}

function shownOf(disruption: Reserved | Own | Inherited): object {
  if (disruption.kind === 'inherited') return { inherited: true };
  const { module, pod } = disruption.intent;
  if (disruption.kind === 'reserved') return { module, pod: pod.name, reserved: true };
  return { module, pod: pod.name, eviction: disruption.eviction, ...disruption.hooks.shown?.() };
}

const recent = (spent: readonly Spent[], nowMs: number): readonly Spent[] =>
  spent.filter(({ atMs }) => atMs > nowMs - MINUTE_MS);

const alive = ({ pods }: WorkloadState): readonly ObservedPod[] => pods.filter(({ ended }) => !ended);

/**
 * Until when a move that a predecessor began may be under way, by what is to be seen: its victim goes, its replacement
 * is to be created, or is there and not Ready. What has been so for longer than a move may take is no move, and a pod
 * that crashes for ever holds up nobody. `sinceMs`: when this process began to lead.
 */
export function underWayUntilMs(state: WorkloadState, sinceMs: number, moveTimeoutMs: number): number {
  const { replicas, pods } = state;
  if (replicas === undefined) return Number.NEGATIVE_INFINITY;
  return Math.max(
    alive(state).length < replicas ? sinceMs + ARRIVAL_MS : Number.NEGATIVE_INFINITY,
    ...pods.map(({ ended, ready, createdAtMs, deletionMs }) => {
      if (ended) return deletionMs === null ? Number.NEGATIVE_INFINITY : deletionMs + moveTimeoutMs;
      return ready ? Number.NEGATIVE_INFINITY : createdAtMs + moveTimeoutMs;
    }),
  );
}

function inheritedResult(
  disruption: Inherited,
  state: WorkloadState,
  { moveTimeoutMs, nowMs }: { readonly moveTimeoutMs: number; readonly nowMs: number },
): DisruptionResult | undefined {
  disruption.untilMs = underWayUntilMs(state, disruption.beganAtMs, moveTimeoutMs);
  return disruption.untilMs <= nowMs ? 'succeeded' : undefined;
}

function resultOf(disruption: Own, state: WorkloadState, nowMs: number): DisruptionResult | undefined {
  const { before, intent, hooks } = disruption;
  const isWatched = before.replicas !== undefined;
  if (isWatched && state.replicas === undefined) return 'superseded';
  const victim = state.pods.find(({ metadata }) => metadata.uid === intent.pod.uid);
  if (victim !== undefined && !victim.ended) {
    const isLost = disruption.eviction === 'unknown' && nowMs - disruption.beganAtMs >= ANSWER_MS;
    return isLost ? 'lost' : undefined;
  }
  // It goes, so that an answer that was lost needs no waiting for any more.
  disruption.eviction = 'taken';
  if (hooks.judge === undefined && victim !== undefined) return undefined;
  if (!isWatched) {
    disruption.goneAtMs ??= nowMs;
    return nowMs - disruption.goneAtMs >= UNWATCHED_MS ? 'succeeded' : undefined;
  }
  const present = new Set(before.pods.map(({ metadata }) => metadata.uid));
  const fresh = alive(state).filter(({ metadata }) => !present.has(metadata.uid));
  const wanted = state.replicas ?? 0;
  const isWhole = readyIn(state) >= Math.min(readyIn(before), wanted);
  const judged = hooks.judge === undefined ? (isWhole ? 'succeeded' : undefined) : hooks.judge(fresh);
  if (judged !== undefined) return judged;
  const isSmaller = fresh.length === 0 && alive(state).length >= wanted;
  return isSmaller ? 'superseded' : undefined;
}

const readyIn = (state: WorkloadState): number => alive(state).filter(({ ready }) => ready).length;
