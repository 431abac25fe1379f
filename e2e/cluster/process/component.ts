import { logTail } from './log.ts';
import type { Command, Running, Supervisor } from './supervisor.ts';
import { waitFor } from './wait.ts';

export interface ComponentParts {
  readonly supervisor: Supervisor;
  readonly command: Command;
  /** Whether it serves; asked until it says so. An exception counts as no. */
  readonly ready: () => Promise<boolean>;
  readonly readyTimeoutMs?: number;
}

/** A process with a name that may die and come back: same command, same ports, same log. */
export class Component {
  readonly #parts: ComponentParts;
  #running: Running | undefined;

  constructor(parts: ComponentParts) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.command.name;
  }

  get logFile(): string {
    return this.#parts.command.logFile;
  }

  /** undefined while it does not run. */
  get pid(): number | undefined {
    return this.#running?.exit === null ? this.#running.pid : undefined;
  }

  /** Resolves when it serves; fails at once, with the end of its log, when it ends instead. */
  async start(): Promise<void> {
    if (this.pid !== undefined) throw new Error(`${this.name} runs already (pid ${this.pid})`);
    const { supervisor, command, ready, readyTimeoutMs = 60_000 } = this.#parts;
    const running = await supervisor.spawn(command);
    this.#running = running;
    try {
      await waitFor(`${this.name} to be ready`, async () => running.exit !== null || ready(), {
        timeoutMs: readyTimeoutMs,
        intervalMs: 30,
      });
    } catch (error) {
      throw new Error(`${String(error)}\n${logTail(this.logFile)}`, { cause: error });
    }
    if (running.exit !== null) {
      const { code, signal } = running.exit;
      throw new Error(
        `${this.name} ended (${signal ?? `code ${code}`}) instead of serving:\n${logTail(this.logFile)}`,
      );
    }
  }

  /** Resolves when the process is gone. A signal that it survives makes this fail after `timeoutMs`. */
  async kill(signal: NodeJS.Signals = 'SIGKILL', timeoutMs = 60_000): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    running.kill(signal);
    await waitFor(`${this.name} to end after ${signal}`, () => running.exit !== null, {
      timeoutMs,
      intervalMs: 10,
    });
  }

  /** The process is there, its port accepts, and nothing answers: what a hanging machine looks like. */
  freeze(): void {
    this.#running?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#running?.kill('SIGCONT');
  }

  async restart(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.kill(signal);
    await this.start();
  }

  log(lines?: number): string {
    return logTail(this.logFile, lines);
  }
}
