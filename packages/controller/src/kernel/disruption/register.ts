import {
  addResources,
  afterMove,
  type BudgetUse,
  type CapacityType,
  type EvictIntent,
  type ModuleName,
  type MoveHistory,
  type PolicyNumbers,
  type Rank,
  ranks,
  type RegisterView,
  type Resources,
  type Spent,
  type UnderWay,
} from '@spotalis/core';

/** A pod of a workload as it matters to the move that made it necessary. */
export interface FlightPod {
  readonly uid: string;
  readonly ended: boolean;
  readonly ready: boolean;
  readonly createdAtMs: number;
  /** When the grace period of one that terminates is over; null while it stays. */
  readonly deletionMs: number | null;
  /** Its node's type, or the one that admission gave it. */
  readonly type: CapacityType | undefined;
  /** Admission has seen it. */
  readonly steered: boolean;
  /** Of the policy that it was admitted by. */
  readonly numbers: PolicyNumbers | null;
  /** What somebody changed of where admission sent it. */
  readonly override: string | null;
}

/** A workload as it is now. */
export interface Scene {
  /** Undefined: it is gone. */
  readonly replicas: number | undefined;
  readonly pods: readonly FlightPod[];
}

/** A move that this process is about to begin. */
export interface Departure {
  readonly workloadUid: string;
  readonly namespace: string;
  readonly pod: { readonly name: string; readonly uid: string };
  readonly from: CapacityType;
  readonly to: CapacityType;
  readonly node: string | null;
  /** Where its replacement was found to fit, and the room it takes there. */
  readonly evidence: string;
  readonly requests: Resources;
  /** All pods that the workload has now: whatever comes beside them is the replacement. */
  readonly present: readonly string[];
}

/** Granted, and not begun: it is still to be confirmed by a fresh look. */
interface Reserved {
  readonly kind: 'reserved';
  readonly intent: EvictIntent;
  readonly beganAtMs: number;
  readonly spent: Spent;
}

interface Own extends Departure {
  readonly kind: 'own';
  readonly module: EvictIntent['module'];
  readonly beganAtMs: number;
  readonly spent: Spent;
  /** Whether the API server took the eviction. `unknown`: its answer was lost. */
  eviction: 'asked' | 'taken' | 'unknown';
  /** Whether a replacement came, and through admission. */
  replacement: 'unseen' | 'steered' | 'unsteered';
  /** To be noted when the replacement is first seen: its annotations will be corrected. */
  override: string | null;
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

/** `superseded`: it was scaled down meanwhile, so that no replacement is needed. `lost`: never carried out. */
export type FlightResult = 'succeeded' | 'failed' | 'timeout' | 'superseded' | 'lost';

export interface Landed {
  readonly result: FlightResult;
  /** Undefined where another process began it. */
  readonly move: Departure | undefined;
  readonly lastedMs: number;
}

/** An eviction whose answer was lost shows on its pod within this time, or did not happen. */
const ANSWER_MS = 15_000;
/** Much longer than a ReplicaSet takes to make up for a pod. */
const ARRIVAL_MS = 30_000;
const MINUTE_MS = 60_000;
/** No arbitration looks further back. */
const TURNS_KEPT = 10;

/** What is under way, what it leaves behind, and what the last minute has spent. */
export class Register {
  /** By UID of the workload: one at a time. */
  readonly #underWay = new Map<string, Reserved | Own | Inherited>();
  readonly #history = new Map<string, MoveHistory>();
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

  /** Drops what nobody looks at any more, because its workload is gone. */
  sweep(begunBeforeMs: number): void {
    for (const [uid, { beganAtMs }] of this.#underWay) {
      if (beganAtMs < begunBeforeMs) this.#underWay.delete(uid);
    }
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
  begin(departure: Departure, nowMs: number): boolean {
    const reserved = this.#underWay.get(departure.workloadUid);
    if (reserved?.kind !== 'reserved') return false;
    this.#underWay.set(departure.workloadUid, {
      ...departure,
      kind: 'own',
      module: reserved.intent.module,
      beganAtMs: nowMs,
      spent: reserved.spent,
      eviction: 'asked',
      replacement: 'unseen',
      override: null,
    });
    return true;
  }

  /** The API server has taken the eviction, or may have. */
  sent(workloadUid: string, eviction: 'taken' | 'unknown'): void {
    const flight = this.#underWay.get(workloadUid);
    if (flight?.kind === 'own') flight.eviction = eviction;
  }

  /** It was refused or not confirmed, so nothing has happened. */
  cancel(workloadUid: string): void {
    const flight = this.#underWay.get(workloadUid);
    if (flight === undefined || flight.kind === 'inherited') return;
    this.#underWay.delete(workloadUid);
    this.#begun = this.#begun.filter((one) => one !== flight.spent);
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
      underWay: new Map([...this.#underWay].map(([uid, flight]) => [uid, underWayOf(flight)])),
      begun: [...inherited, ...this.#begun],
      removed: this.#removed,
      turns: this.#turns,
    };
  }

  /** Looks at the replacement. `arrived` is called once, with it. */
  follow(
    workloadUid: string,
    scene: Scene,
    limits: { readonly moveTimeoutMs: number; readonly nowMs: number },
    arrived: (replacement: FlightPod) => void,
  ): Landed | undefined {
    const flight = this.#underWay.get(workloadUid);
    if (flight === undefined || flight.kind === 'reserved') return undefined;
    const { nowMs, moveTimeoutMs } = limits;
    const lastedMs = nowMs - flight.beganAtMs;
    const result =
      flight.kind === 'inherited'
        ? inheritedResult(flight, scene, limits)
        : resultOf(flight, scene, lastedMs, arrived);
    const ended = result ?? (lastedMs >= moveTimeoutMs ? 'timeout' : undefined);
    if (ended === undefined) return undefined;
    if (ended === 'lost') this.cancel(workloadUid);
    else this.#underWay.delete(workloadUid);
    if (flight.kind === 'inherited') return { result: ended, move: undefined, lastedMs };
    if (ended !== 'lost') {
      const { from, to, override } = flight;
      const outcome = ended === 'failed' || ended === 'timeout' ? 'failed' : 'succeeded';
      const before = this.#history.get(workloadUid) ?? null;
      this.#history.set(workloadUid, afterMove(before, { from, to, outcome, override }, nowMs));
    }
    return { result: ended, move: flight, lastedMs };
  }

  /** When the flight of a workload has to be looked at again at the latest. */
  nextLookMs(workloadUid: string, moveTimeoutMs: number): number | undefined {
    const flight = this.#underWay.get(workloadUid);
    if (flight === undefined || flight.kind === 'reserved') return undefined;
    if (flight.kind === 'inherited') return Math.min(flight.untilMs, flight.beganAtMs + moveTimeoutMs);
    const waitsForAnswer = flight.eviction === 'unknown';
    return flight.beganAtMs + (waitsForAnswer ? Math.min(ANSWER_MS, moveTimeoutMs) : moveTimeoutMs);
  }

  historyOf(workloadUid: string): MoveHistory | null {
    const known = this.#history.get(workloadUid);
    if (known !== undefined) return known;
    if (this.#ledSinceMs === undefined) return null;
    return { from: 'spot', to: 'on-demand', endedAtMs: this.#ledSinceMs, failures: 0, override: null };
  }

  forget(workloadUid: string): void {
    this.#history.delete(workloadUid);
  }

  /**
   * What matters to a module's choice of a pod of this workload. What is reserved for the workload itself is left out, because
   * it is this choice that confirms it.
   */
  use(workloadUid: string, module: ModuleName): Omit<BudgetUse, 'spent'> {
    const nodes = new Map<string, number>();
    for (const [uid, flight] of this.#underWay) {
      if (flight.kind === 'reserved' && uid === workloadUid) continue;
      for (const node of nodesOf(flight)) nodes.set(node, (nodes.get(node) ?? 0) + 1);
    }
    const own = this.#underWay.get(workloadUid);
    const isOwn = own?.kind === 'inherited' || (own?.kind === 'own' && own.module === module);
    return { workload: isOwn ? 1 : 0, nodes };
  }

  /** Room that replacements still to be scheduled will take. */
  promised(): ReadonlyMap<string, Resources> {
    const promised = new Map<string, Resources>();
    for (const flight of this.#underWay.values()) {
      if (flight.kind !== 'own') continue;
      promised.set(flight.evidence, addResources(promised.get(flight.evidence) ?? {}, flight.requests));
    }
    return promised;
  }

  /** Without those that are only reserved. */
  get count(): number {
    return [...this.#underWay.values()].filter(({ kind }) => kind !== 'reserved').length;
  }

  /** The move of a workload that this process began. */
  departureOf(workloadUid: string): Departure | undefined {
    const flight = this.#underWay.get(workloadUid);
    return flight?.kind === 'own' ? flight : undefined;
  }

  has(workloadUid: string): boolean {
    const flight = this.#underWay.get(workloadUid);
    return flight !== undefined && flight.kind !== 'reserved';
  }

  /**
   * Moves of which nobody knows yet whether their replacement goes through admission. One that has not come for long
   * is held back by something else, a quota perhaps, and says nothing about admissions.
   */
  unproven(nowMs: number): number {
    let count = 0;
    for (const flight of this.#underWay.values()) {
      if (flight.kind !== 'own' || flight.replacement !== 'unseen') continue;
      if (flight.beganAtMs > nowMs - ARRIVAL_MS) count++;
    }
    return count;
  }

  /** For people. */
  state(): unknown {
    return [...this.#underWay.values()].map((flight) => ({
      workloadUid: flight.kind === 'reserved' ? flight.intent.workload.uid : flight.workloadUid,
      beganAt: new Date(flight.beganAtMs).toISOString(),
      ...shownOf(flight),
    }));
  }
}

function nodesOf(flight: Reserved | Own | Inherited): readonly string[] {
  if (flight.kind === 'inherited') return flight.nodes;
  const node = flight.kind === 'reserved' ? flight.intent.node : flight.node;
  return node === null ? [] : [node];
}

function underWayOf(flight: Reserved | Own | Inherited): UnderWay {
  const common = { nodes: nodesOf(flight), sinceMs: flight.beganAtMs };
  switch (flight.kind) {
    case 'reserved': {
      const { module, workload, pod } = flight.intent;
      return { ...common, module, namespace: workload.namespace, podUid: pod.uid };
    }
    case 'own':
      return { ...common, module: flight.module, namespace: flight.namespace, podUid: flight.pod.uid };
    case 'inherited':
      return { ...common, module: null, namespace: flight.namespace, podUid: null };
    default:
      return flight satisfies never;
  }
}

function shownOf(flight: Reserved | Own | Inherited): object {
  if (flight.kind === 'inherited') return { inherited: true };
  if (flight.kind === 'reserved') return { pod: flight.intent.pod.name, reserved: true };
  const { pod, to, eviction, replacement } = flight;
  return { pod: pod.name, to, eviction, replacement };
}

const recent = (spent: readonly Spent[], nowMs: number): readonly Spent[] =>
  spent.filter(({ atMs }) => atMs > nowMs - MINUTE_MS);

const alive = ({ pods }: Scene): readonly FlightPod[] => pods.filter(({ ended }) => !ended);

/**
 * Until when a move that a predecessor began may be under way, by what is to be seen: its victim goes, its replacement
 * is to be created, or is there and not Ready. What has been so for longer than a move may take is no move, and a pod
 * that crashes for ever holds up nobody. `sinceMs`: when this process began to lead.
 */
export function underWayUntilMs(scene: Scene, sinceMs: number, moveTimeoutMs: number): number {
  const { replicas, pods } = scene;
  if (replicas === undefined) return Number.NEGATIVE_INFINITY;
  return Math.max(
    alive(scene).length < replicas ? sinceMs + ARRIVAL_MS : Number.NEGATIVE_INFINITY,
    ...pods.map(({ ended, ready, createdAtMs, deletionMs }) => {
      if (ended) return deletionMs === null ? Number.NEGATIVE_INFINITY : deletionMs + moveTimeoutMs;
      return ready ? Number.NEGATIVE_INFINITY : createdAtMs + moveTimeoutMs;
    }),
  );
}

function inheritedResult(
  flight: Inherited,
  scene: Scene,
  { moveTimeoutMs, nowMs }: { readonly moveTimeoutMs: number; readonly nowMs: number },
): FlightResult | undefined {
  flight.untilMs = underWayUntilMs(scene, flight.beganAtMs, moveTimeoutMs);
  return flight.untilMs <= nowMs ? 'succeeded' : undefined;
}

function resultOf(
  flight: Own,
  scene: Scene,
  lastedMs: number,
  arrived: (replacement: FlightPod) => void,
): FlightResult | undefined {
  if (scene.replicas === undefined) return 'superseded';
  const victim = scene.pods.find(({ uid }) => uid === flight.pod.uid);
  if (victim !== undefined && !victim.ended) {
    return flight.eviction === 'unknown' && lastedMs >= ANSWER_MS ? 'lost' : undefined;
  }
  // It goes, so that an answer that was lost needs no waiting for any more.
  flight.eviction = 'taken';
  const present = new Set(flight.present);
  const fresh = alive(scene).filter(({ uid }) => !present.has(uid));
  const [first] = fresh;
  flight.override ??= first?.override ?? null;
  if (first !== undefined && flight.replacement === 'unseen') {
    flight.replacement = first.steered ? 'steered' : 'unsteered';
    arrived(first);
  }
  if (fresh.some(({ ready, type }) => ready && type === flight.to)) return 'succeeded';
  // All that came are of the type that there was too much of, wherever they wait.
  if (fresh.length > 0 && fresh.every(({ type }) => type === flight.from)) return 'failed';
  const isSmaller = fresh.length === 0 && alive(scene).length >= scene.replicas;
  return isSmaller ? 'superseded' : undefined;
}
