import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasCode } from './failure.ts';
import type { Report, Request } from './watchdog-messages.ts';
import { remove } from './removal.ts';

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Command {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** On top of this process's own environment, less its SPOTALIS_ variables. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly logFile: string;
}

/** A process of a cluster. `exit` is null for as long as it runs. */
export interface Running {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  exit: Exit | null;
  kill(signal?: NodeJS.Signals): void;
}

/** Starts processes through a watchdog of their own, so that none outlives this process, whatever ends it. */
export class Supervisor {
  readonly #watchdog: ChildProcess;
  readonly #stateDir: string;
  readonly #removals: readonly string[];
  readonly #running = new Map<number, Running>();
  readonly #starting = new Map<number, { resolve: (pid: number) => void; reject: (error: Error) => void }>();
  /** Resolves when the watchdog is gone and everything with it. */
  readonly ended: Promise<void>;
  #lastId = 0;
  #stopping = false;

  private constructor(watchdog: ChildProcess, stateDir: string, removals: readonly string[]) {
    this.#watchdog = watchdog;
    this.#stateDir = stateDir;
    this.#removals = removals;
    watchdog.on('message', (report: Report) => this.#hear(report));
    this.ended = new Promise((resolve) => {
      watchdog.once('exit', () => {
        this.#watchdogGone();
        resolve();
      });
    });
  }

  /** `removals` are paths that go when the cluster goes. */
  static async start(stateDir: string, removals: readonly string[]): Promise<Supervisor> {
    mkdirSync(stateDir, { recursive: true });
    const log = openSync(join(stateDir, 'watchdog.log'), 'a');
    const script = fileURLToPath(new URL('./watchdog.ts', import.meta.url));
    const watchdog = spawn(process.execPath, [script, stateDir, ...removals], {
      cwd: '/',
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    const supervisor = new Supervisor(watchdog, stateDir, removals);
    await Promise.race([
      once(watchdog, 'message'),
      supervisor.ended.then(() => {
        throw new Error(`the watchdog did not start; see ${stateDir}/watchdog.log`);
      }),
    ]);
    watchdog.unref();
    watchdog.channel?.unref();
    return supervisor;
  }

  get watchdogPid(): number {
    return this.#watchdog.pid ?? 0;
  }

  async spawn({ name, command, args, env = {}, logFile }: Command): Promise<Running> {
    if (this.#stopping) throw new Error(`${name} cannot start: the cluster is stopped`);
    const id = ++this.#lastId;
    const pid = await new Promise<number>((resolve, reject) => {
      this.#starting.set(id, { resolve, reject });
      const own = Object.fromEntries(
        Object.entries(process.env).filter(
          // What configures this tool is not meant for what it starts.
          (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('SPOTALIS_'),
        ),
      );
      this.#send({
        operation: 'spawn',
        id,
        name,
        command,
        args,
        env: { ...own, ...env },
        cwd: this.#stateDir,
        logFile,
      });
    });
    const running: Running = {
      name,
      pid,
      logFile,
      exit: null,
      kill(signal = 'SIGKILL') {
        if (this.exit === null) signalIfThere(pid, signal);
      },
    };
    this.#running.set(pid, running);
    return running;
  }

  /** Resolves when every process is dead and every removal is done. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#watchdog.ref();
    if (this.#watchdog.exitCode === null && this.#watchdog.signalCode === null)
      this.#send({ operation: 'stop' });
    await this.ended;
  }

  #send(request: Request): void {
    // An unreferenced channel would let this process end while it waits for the answer.
    this.#watchdog.channel?.ref();
    this.#watchdog.send(request, (error) => {
      if (error) this.#watchdogGone();
    });
  }

  #hear(report: Report): void {
    switch (report.event) {
      case 'ready':
        return;
      case 'started':
        this.#starting.get(report.id)?.resolve(report.pid);
        this.#answered(report.id);
        return;
      case 'failed':
        this.#starting.get(report.id)?.reject(new Error(report.message));
        this.#answered(report.id);
        return;
      case 'exited':
        // After a microtask, so that a process that dies at once is registered first.
        queueMicrotask(() => this.#exited(report.pid, { code: report.code, signal: report.signal }));
    }
  }

  #answered(id: number): void {
    this.#starting.delete(id);
    if (this.#starting.size === 0) this.#watchdog.channel?.unref();
  }

  #exited(pid: number, exit: Exit): void {
    const running = this.#running.get(pid);
    if (running === undefined) return;
    this.#running.delete(pid);
    running.exit = exit;
  }

  /** Also when somebody killed the watchdog itself: then its children are ours to end. */
  #watchdogGone(): void {
    if (this.#watchdog.pid !== undefined) signalIfThere(-this.#watchdog.pid, 'SIGKILL');
    for (const { reject } of this.#starting.values())
      reject(new Error('the watchdog of the cluster is gone'));
    this.#starting.clear();
    for (const pid of this.#running.keys()) this.#exited(pid, { code: null, signal: 'SIGKILL' });
    for (const path of this.#removals) remove(path);
  }
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}
