import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { logTail } from '../process/log.ts';
import type { Running, Supervisor } from '../process/supervisor.ts';
import { waitFor } from '../process/wait.ts';
import { type Address, ask, type Reply } from './client.ts';
import type { RedisProgram } from './program.ts';

/** One redis-server, a data node or a Sentinel; it keeps its port and directory over restarts. */
export class RedisNode {
  readonly host = '127.0.0.1';
  readonly name: string;
  readonly port: number;
  readonly #address: Address;
  readonly #parts: NodeParts;
  #running: Running | undefined;

  constructor(parts: NodeParts) {
    this.#parts = parts;
    this.name = parts.name;
    this.port = parts.port;
    this.#address = { host: this.host, port: parts.port, ca: parts.ca, credentials: parts.credentials };
    writeFileSync(this.#configFile, `${parts.config.join('\n')}\n`, { mode: 0o600 });
  }

  get pid(): number | undefined {
    return this.#running?.exit === null ? this.#running.pid : undefined;
  }

  get logFile(): string {
    return join(this.#parts.dir, `${this.name}.log`);
  }

  command(...command: string[]): Promise<Reply> {
    return ask(this.#address, command);
  }

  /** Resolves when the server answers. */
  async start(): Promise<void> {
    const { program, supervisor, sentinel } = this.#parts;
    const args = [this.#configFile, ...(sentinel ? ['--sentinel'] : [])];
    const running = await supervisor.spawn({
      name: this.name,
      command: program.command,
      args,
      env: program.env,
      logFile: this.logFile,
    });
    this.#running = running;
    await waitFor(
      `${this.name} on port ${this.port}`,
      async () => {
        if (running.exit) return 'exited';
        return (await this.command('PING')) === 'PONG';
      },
      { timeoutMs: 10_000, intervalMs: 20 },
    );
    if (running.exit) throw new Error(`${this.name} ended at once: ${logTail(this.logFile)}`);
  }

  /** SIGKILL by default: connections are reset and, without persistence, the data is gone. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#running?.kill(signal);
    await this.#running?.exited;
  }

  /** The process is there, its port accepts, and nothing answers: what a hanging machine looks like. */
  freeze(): void {
    this.#running?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#running?.kill('SIGCONT');
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  get #configFile(): string {
    return join(this.#parts.dir, `${this.name}.conf`);
  }
}

interface NodeParts extends Pick<Address, 'ca' | 'credentials'> {
  readonly name: string;
  readonly port: number;
  readonly dir: string;
  readonly config: readonly string[];
  readonly sentinel: boolean;
  readonly program: RedisProgram;
  readonly supervisor: Supervisor;
}
