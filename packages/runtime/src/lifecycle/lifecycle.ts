import type { Logger } from '../logging/logger.ts';
import { announcement } from './announcement.ts';
import type { Component } from './component.ts';
import { within } from './deadline.ts';
import { LifecycleError } from './error.ts';
import { Readiness } from './readiness.ts';

export type LifecycleState = 'idle' | 'starting' | 'running' | 'stopping' | 'stopped';

const startDeadlineMs = 60_000;
const stopDeadlineMs = 10_000;

/**
 * Starts components one after the other in the order they were added and stops them in exact reverse. What has
 * not started is not stopped; what cannot stop in time is left behind and reported.
 */
export class Lifecycle {
  /** Begins with the check `lifecycle`: passing while everything runs, failing from the moment a stop begins. */
  readonly readiness = new Readiness();
  readonly #logger: Logger;
  readonly #components: Component[] = [];
  readonly #started: Component[] = [];
  readonly #interrupt = new AbortController();
  readonly #failure = announcement<Error>();
  #state: LifecycleState = 'idle';
  #starting: Promise<void> | undefined;
  #stopping: Promise<readonly LifecycleError[]> | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
    this.readiness.add('lifecycle', () => this.#state === 'running' || this.#state);
  }

  get state(): LifecycleState {
    return this.#state;
  }

  /** Resolves with the error of the first component that fails after it has started; else never. */
  get failed(): Promise<Error> {
    return this.#failure.made;
  }

  add(...components: readonly Component[]): this {
    if (this.#state !== 'idle') throw new Error('components have to be added before the start');
    this.#components.push(...components);
    return this;
  }

  /** Rejects with a LifecycleError once everything that had started is stopped again. */
  async start(): Promise<void> {
    if (this.#state !== 'idle') throw new Error(`cannot start: the service is ${this.#state}`);
    this.#state = 'starting';
    this.#starting = this.#startAll();
    try {
      await this.#starting;
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Returns what went wrong on the way; calling again waits for the same stop. */
  stop(): Promise<readonly LifecycleError[]> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #startAll(): Promise<void> {
    for (const component of this.#components) {
      this.#refuseIfInterrupted(component);
      await this.#startOne(component);
      this.#started.push(component);
      this.#logger.debug('started', { component: component.name });
    }
    const last = this.#components.at(-1);
    if (last !== undefined) this.#refuseIfInterrupted(last);
    this.#state = 'running';
  }

  #refuseIfInterrupted({ name }: Component): void {
    if (!this.#interrupt.signal.aborted) return;
    throw new LifecycleError('START_INTERRUPTED', name, 'told to stop before everything had started');
  }

  async #startOne(component: Component): Promise<void> {
    const { name } = component;
    const deadlineMs = component.startDeadlineMs ?? startDeadlineMs;
    const fail = (error: Error): void => {
      this.#logger.error('component failed', { component: name, error });
      this.#failure.make(error);
    };
    const late = () =>
      new LifecycleError('COMPONENT_START_DEADLINE', name, `${name} did not start within ${deadlineMs} ms`);
    try {
      await within(deadlineMs, late, () => component.start?.({ signal: this.#interrupt.signal, fail }));
    } catch (error) {
      // It may have come half-way: whatever it holds has to be given back as well.
      this.#started.push(component);
      if (error instanceof LifecycleError) throw error;
      this.#refuseIfInterrupted(component);
      const why = error instanceof Error ? error.message : String(error);
      throw new LifecycleError('COMPONENT_START_FAILED', name, `${name} could not start: ${why}`, {
        cause: error,
      });
    }
  }

  async #stopAll(): Promise<readonly LifecycleError[]> {
    const wasStarting = this.#state === 'starting';
    this.#state = 'stopping';
    this.#interrupt.abort();
    if (wasStarting) await this.#starting?.catch(() => undefined);
    const problems: LifecycleError[] = [];
    for (const component of this.#started.toReversed()) {
      const problem = await this.#stopOne(component);
      if (problem !== undefined) problems.push(problem);
    }
    this.#state = 'stopped';
    return problems;
  }

  async #stopOne(component: Component): Promise<LifecycleError | undefined> {
    const { name } = component;
    const deadlineMs = component.stopDeadlineMs ?? stopDeadlineMs;
    const late = () =>
      new LifecycleError('COMPONENT_STOP_DEADLINE', name, `${name} did not stop within ${deadlineMs} ms`);
    try {
      await within(deadlineMs, late, () => component.stop?.());
      this.#logger.debug('stopped', { component: name });
      return undefined;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const problem =
        error instanceof LifecycleError
          ? error
          : new LifecycleError('COMPONENT_STOP_FAILED', name, `${name} could not stop: ${why}`, {
              cause: error,
            });
      this.#logger.error('component did not stop', { component: name, error: problem });
      return problem;
    }
  }
}
