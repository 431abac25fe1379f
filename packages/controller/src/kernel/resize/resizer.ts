import {
  agreedSizes,
  changesOf,
  nextStep,
  owesNothing,
  pendingSizes,
  progressOf,
  type RawResizablePod,
  readOriginals,
  readResizablePod,
  rememberedValue,
  roomOf,
  subtractResources,
  resizeKeys,
  type ResizablePod,
  type ResizeHold,
  type ResizeIntent,
  type ResizeSurroundings,
  type Sizes,
  verdictOf,
} from '@spotalis/core';
import type { ApiClient, ResizeOutcome } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import { Backoffs } from './backoffs.ts';
import { type Asked, Flight, type ResizeAnswer, type ResizeState } from './flight.ts';
import { isOurs, ResizeCalls } from './calls.ts';
import { Sightings } from './sightings.ts';
import { Turns } from './turns.ts';

export interface ResizerOptions {
  readonly client: ApiClient;
  readonly mayWrite: () => boolean;
  /** Asked right before each patch. */
  readonly surroundingsOf: (pod: ResizablePod) => ResizeSurroundings;
  readonly random?: () => number;
  readonly now: () => number;
  readonly logger: Logger;
}

interface ResizerParts extends Pick<ResizerOptions, 'surroundingsOf' | 'now' | 'logger'> {
  readonly calls: ResizeCalls;
  readonly turns: Turns;
  readonly sightings: Sightings;
  readonly backoffs: Backoffs;
}

/** A read besides what the watch shows, should it miss something. */
const LOOK_MS = 30_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/**
 * The one place that resizes pods: at one pace, one resize for each pod, as what the pod is right before it, and followed
 * until the kubelet has applied it or it is taken back.
 */
export class Resizer {
  readonly #parts: ResizerParts;
  /** By UID of the pod. */
  readonly #flights = new Map<string, Flight>();

  constructor({ client, mayWrite, random = Math.random, ...others }: ResizerOptions) {
    this.#parts = {
      ...others,
      calls: new ResizeCalls(client, mayWrite),
      turns: new Turns(others.now),
      sightings: new Sightings(),
      backoffs: new Backoffs(random),
    };
  }

  /** Carries out what was granted. Never throws. */
  async resize(intent: ResizeIntent): Promise<ResizeAnswer> {
    const { uid } = intent.pod;
    for (let other = this.#flights.get(uid); other !== undefined; other = this.#flights.get(uid)) {
      if (!overtakes(intent, other)) return { kind: 'busy', state: other.state };
      other.drop();
      await other.answer;
    }
    return this.#begin(intent, (flight) => this.#carryOut(flight));
  }

  /**
   * Follows what a predecessor left pending on these pods to its end, or takes it back; what somebody else resized last
   * is left alone. Resolves when all of it is known, so that nobody asks for something else meanwhile.
   */
  async takeUp(pods: Iterable<{ readonly namespace: string; readonly name: string; readonly uid: string }>) {
    await Promise.all(
      [...pods].map(async ({ namespace, name, uid }) => {
        const read = await this.#parts.calls.read(namespace, { name, uid });
        if (read.kind !== 'read' || this.#flights.has(uid) || !isOurs(read.pod)) return;
        const to = pendingSizes(read.pod);
        if (to === null) return;
        const { resourceVersion, lastResizedBy } = read.pod;
        const module = lastResizedBy === 'spotalis-allocation' ? 'allocation' : 'rightsizing';
        const pod = { name, uid, resourceVersion };
        const left: Asked = {
          id: `taken-up/${uid}`,
          module,
          purpose: 'size',
          pod,
          to,
          workload: { namespace },
        };
        void this.#begin(left, (flight) => this.#verify(flight, read.pod, to, null));
      }),
    );
  }

  /** Every change of a pod that the watch shows. */
  saw(raw: RawResizablePod): void {
    this.#parts.sightings.saw(raw.metadata.uid, () => readResizablePod(raw));
  }

  /** The pod does not exist any more. */
  gone(podUid: string): void {
    const { sightings, backoffs } = this.#parts;
    backoffs.lift(podUid);
    sightings.saw(podUid, () => 'gone');
  }

  /** What was in the way has changed: room on its node, a quota. */
  lift(podUid: string): void {
    this.#parts.backoffs.lift(podUid);
  }

  stateOf(podUid: string): ResizeState | undefined {
    return this.#flights.get(podUid)?.state;
  }

  /** Nothing is asked for under this id any more. What is sent already is followed to its end. */
  withdraw(id: string): void {
    for (const flight of this.#flights.values())
      if (flight.intent.id === id && flight.state.phase === 'waiting') flight.drop();
  }

  /** Another one leads now, and takes up what is pending. */
  async abandon(): Promise<void> {
    const flights = [...this.#flights.values()];
    for (const flight of flights) flight.drop();
    await Promise.all(flights.map(({ answer }) => answer));
  }

  async #begin(intent: Asked, work: (flight: Flight) => Promise<ResizeAnswer>): Promise<ResizeAnswer> {
    const { uid, name } = intent.pod;
    const flight = new Flight(intent, this.#parts.now());
    this.#flights.set(uid, flight);
    flight.answer = work(flight).finally(() => this.#flights.delete(uid));
    const answer = await flight.answer;
    const { namespace } = intent.workload;
    const level = answer.kind === 'takenBack' ? 'warn' : answer.kind === 'resized' ? 'info' : 'debug';
    this.#parts.logger[level]('resize ended', { pod: name, namespace, module: intent.module, answer });
    return answer;
  }

  async #carryOut(flight: Flight): Promise<ResizeAnswer> {
    const { intent, signal } = flight;
    const { calls, turns, now } = this.#parts;
    await turns.take(intent, signal);
    // Most pods change about once in a minute: what was stale once is not so again, or is for the next look.
    for (const isLast of [false, true]) {
      if (signal.aborted) return { kind: 'dropped' };
      flight.enter('sending', now());
      const read = await calls.read(intent.workload.namespace, intent.pod);
      if (read.kind === 'gone') return { kind: 'gone' };
      if (read.kind === 'error') return this.#failed(flight, unreachable(read.error), null);
      const answer = await this.#attempt(flight, read.pod);
      if (answer !== 'stale') return answer;
      if (isLast) return this.#failed(flight, { reason: 'Overwritten' }, read.pod.node);
    }
    return { kind: 'dropped' };
  }

  /** One patch of the pod as it was just read, and all that comes of it. */
  async #attempt(flight: Flight, pod: ResizablePod): Promise<ResizeAnswer | 'stale'> {
    const { intent, signal } = flight;
    const { calls, backoffs, now } = this.#parts;
    const backoff = backoffs.of(intent, pod.node, now());
    if (backoff !== undefined) return { kind: 'held', hold: backoff.hold, untilMs: backoff.untilMs };
    flight.claim = null;
    const memory = memoryOf(pod, intent);
    const originals = readOriginals({ ...pod.annotations, ...memory });
    const step = nextStep(pod, { ...intent, originals }, this.#surroundingsOf(pod));
    if (step.kind === 'held') return { kind: 'held', hold: step.hold, untilMs: null };
    // A predecessor may have sent it, and the kubelet may still be at it.
    if (step.kind === 'none') return this.#verify(flight, pod, intent.to, null);
    if (pod.node !== null) {
      flight.claim = { node: pod.node, room: roomOf(changesOf(pod, step.sizes)) };
    }
    let remembered = pod;
    for (const [key, value] of Object.entries(memory)) {
      if (pod.annotations[key] === value) continue;
      const annotated = await calls.annotate(remembered, intent.module, key, value);
      if (annotated.kind !== 'annotated') return this.#notAnnotated(flight, annotated, pod.node);
      remembered = annotated.pod;
    }
    if (signal.aborted) return { kind: 'dropped' };
    const outcome = await calls.resize(remembered, intent.module, step.sizes);
    if (outcome.kind === 'resized')
      return this.#verify(flight, readResizablePod(outcome.pod), step.sizes, step.held);
    const sent = outcome.kind === 'error' ? await this.#sent(flight, step.sizes) : null;
    if (sent !== null) return this.#verify(flight, sent, step.sizes, step.held);
    return this.#notSent(flight, outcome, pod.node);
  }

  /** A node's room is promised once: a watch shows what is under way too late for the next patch. */
  #surroundingsOf(pod: ResizablePod): ResizeSurroundings {
    const surroundings = this.#parts.surroundingsOf(pod);
    const { node } = surroundings;
    if (node === null) return surroundings;
    let { free } = node;
    for (const { claim } of this.#flights.values()) {
      for (const [name, amount] of Object.entries(claim?.node === node.name ? claim.room : {}))
        if (amount > 0) free = subtractResources(free, { [name]: amount });
    }
    return { ...surroundings, node: { ...node, free } };
  }

  /** The pod, where a patch without an answer was carried out all the same. */
  async #sent({ intent }: Flight, sizes: Sizes): Promise<ResizablePod | null> {
    const read = await this.#parts.calls.read(intent.workload.namespace, intent.pod);
    return read.kind === 'read' && changesOf(read.pod, sizes).length === 0 ? read.pod : null;
  }

  #notAnnotated(
    flight: Flight,
    outcome: Exclude<Awaited<ReturnType<ResizeCalls['annotate']>>, { kind: 'annotated' }>,
    node: string | null,
  ): ResizeAnswer | 'stale' {
    switch (outcome.kind) {
      case 'stale':
        return 'stale';
      case 'gone':
        return { kind: 'gone' };
      case 'fenced':
        return { kind: 'dropped' };
      case 'refused':
        return this.#failed(flight, { reason: 'Refused', by: 'admission', message: outcome.message }, node);
      case 'error':
        return this.#failed(flight, unreachable(outcome.error), node);
      default:
        return outcome satisfies never;
    }
  }

  #notSent(
    flight: Flight,
    outcome: Exclude<ResizeOutcome, { kind: 'resized' }>,
    node: string | null,
  ): ResizeAnswer | 'stale' {
    switch (outcome.kind) {
      case 'stale':
        return 'stale';
      case 'gone':
        return { kind: 'gone' };
      case 'fenced':
        return { kind: 'dropped' };
      case 'refused':
        return this.#failed(flight, { reason: 'Refused', by: outcome.by, message: outcome.message }, node);
      case 'forbidden':
        return this.#failed(flight, { reason: 'Forbidden', message: outcome.message }, node);
      case 'unsupported':
        return this.#failed(flight, { reason: 'ResizeUnsupported', by: 'server' }, node);
      case 'error':
        return this.#failed(flight, unreachable(outcome.error), node, outcome.retryAfterMs);
      default:
        return outcome satisfies never;
    }
  }

  #failed(flight: Flight, hold: ResizeHold, node: string | null, leastMs?: number): ResizeAnswer {
    const { backoffs, now } = this.#parts;
    const { untilMs } = backoffs.failed(flight.intent, hold, node, now(), leastMs);
    return { kind: 'held', hold, untilMs };
  }

  /** Follows what was sent until the kubelet has applied it, or will not. */
  async #verify(
    flight: Flight,
    sent: ResizablePod,
    sizes: Sizes,
    left: ResizeHold | null,
  ): Promise<ResizeAnswer> {
    const { signal } = flight;
    const { calls, sightings, now } = this.#parts;
    flight.enter('verifying', now());
    let pod = sent;
    for (;;) {
      const progress = progressOf(pod, sizes);
      const before = flight.state;
      if (progress.kind !== before.progress?.kind) flight.enter('verifying', now());
      flight.state = { ...flight.state, progress };
      const verdict = verdictOf(progress, flight.state.sinceMs, now());
      switch (verdict.kind) {
        case 'done':
          return this.#done(flight, pod, left);
        case 'left':
          return pod.terminating ? { kind: 'gone' } : this.#failed(flight, verdict.hold, pod.node);
        case 'takeBack':
          return this.#takeBack(flight, sizes, verdict.hold, left);
        case 'wait': {
          const waitMs = Math.min(LOOK_MS, verdict.untilMs - now());
          const seen = await sightings.next(pod.uid, waitMs, signal);
          if (signal.aborted) return { kind: 'dropped' };
          if (seen === 'gone') return { kind: 'gone' };
          if (seen !== undefined) {
            pod = newer(pod, seen);
            break;
          }
          const read = await calls.read(pod.namespace, pod);
          if (read.kind === 'gone') return { kind: 'gone' };
          if (read.kind === 'read') pod = read.pod;
          break;
        }
        default:
          return verdict satisfies never;
      }
    }
  }

  async #done(flight: Flight, pod: ResizablePod, left: ResizeHold | null): Promise<ResizeAnswer> {
    const { intent } = flight;
    const { calls, backoffs } = this.#parts;
    const isWhole = changesOf(pod, intent.to).length === 0;
    backoffs.lift(pod.uid);
    if (intent.forget !== undefined && isWhole) {
      const forgotten = await this.#forget(flight, pod, intent.forget, calls);
      if (forgotten !== null) return forgotten;
    }
    return { kind: 'resized', isWhole, left };
  }

  /** Removes what was remembered, once the pod owes nothing. Null: it is gone, or not due. */
  async #forget(
    flight: Flight,
    verified: ResizablePod,
    key: string,
    calls: ResizeCalls,
  ): Promise<ResizeAnswer | null> {
    let pod = verified;
    for (const isLast of [false, true]) {
      if (pod.annotations[key] === undefined) return null;
      const owes = key === resizeKeys.originalCpuLimits && !owesNothing(pod, readOriginals(pod.annotations));
      if (owes) return null;
      const outcome = await calls.annotate(pod, flight.intent.module, key, null);
      if (outcome.kind === 'annotated') return null;
      if (outcome.kind !== 'stale' || isLast) {
        const failed = this.#notAnnotated(flight, outcome, pod.node);
        return failed === 'stale' ? this.#failed(flight, { reason: 'Overwritten' }, pod.node) : failed;
      }
      const read = await calls.read(pod.namespace, pod);
      if (read.kind === 'gone') return { kind: 'gone' };
      if (read.kind === 'error') return this.#failed(flight, unreachable(read.error), pod.node);
      pod = read.pod;
    }
    return null;
  }

  /** Asks for what the kubelet last agreed to, until the API server takes it or it is not needed any more. */
  async #takeBack(
    flight: Flight,
    sizes: Sizes,
    hold: ResizeHold,
    left: ResizeHold | null,
  ): Promise<ResizeAnswer> {
    const { intent, signal } = flight;
    const { calls, turns, backoffs, now, logger } = this.#parts;
    flight.enter('takingBack', now());
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS)) {
      await turns.take({ module: intent.module, purpose: 'restore' }, signal);
      if (signal.aborted) return { kind: 'dropped' };
      const read = await calls.read(intent.workload.namespace, intent.pod);
      if (read.kind === 'gone') return { kind: 'gone' };
      if (read.kind === 'read') {
        const { pod } = read;
        const { kind } = progressOf(pod, sizes);
        // Room has come up just now, or the rest is over anyway.
        if (kind !== flight.state.progress?.kind) return this.#verify(flight, pod, sizes, left);
        const agreed = agreedSizes(pod, sizes);
        // What is in the way is of somebody else.
        if (changesOf(pod, agreed).length === 0) return this.#failed(flight, hold, pod.node);
        const outcome = await calls.resize(pod, intent.module, agreed);
        if (outcome.kind === 'resized') {
          const { untilMs } = backoffs.failed(intent, hold, pod.node, now());
          return { kind: 'takenBack', hold, untilMs };
        }
        if (outcome.kind === 'gone') return { kind: 'gone' };
        if (outcome.kind === 'fenced') return { kind: 'dropped' };
        if (outcome.kind !== 'stale') logger.warn('resize not taken back', { pod: pod.name, outcome });
      }
      await this.#parts.sightings.next(intent.pod.uid, retryMs, signal);
      if (signal.aborted) return { kind: 'dropped' };
    }
  }
}

/** A newer wish takes the place of one that waits; what gives back takes that of any that does not. */
function overtakes({ id, purpose }: Asked, { intent: other, state: { phase } }: Flight): boolean {
  if (phase === 'waiting' && other.id === id) return true;
  return purpose === 'restore' && other.purpose !== 'restore';
}

/** Annotations to write before the resize, so that it can be given back. */
function memoryOf(pod: ResizablePod, { remember }: Asked): Readonly<Record<string, string>> {
  if (remember === undefined) return {};
  return { [remember.annotation]: rememberedValue(pod.annotations, remember) };
}

/** A watch may be behind what the API server answered. */
function newer(known: ResizablePod, seen: ResizablePod): ResizablePod {
  return (seen.generation ?? 0) < (known.generation ?? 0) ? known : seen;
}

const unreachable = ({ message }: Error): ResizeHold => ({ reason: 'Unreachable', message });
