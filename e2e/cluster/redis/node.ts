import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Component } from '../process/component.ts';
import type { Supervisor } from '../process/supervisor.ts';
import { type Address, ask, type Reply } from './client.ts';
import type { RedisProgram } from './program.ts';

interface NodeParts extends Pick<Address, 'ca' | 'credentials'> {
  readonly name: string;
  readonly port: number;
  readonly dir: string;
  readonly config: readonly string[];
  readonly sentinel: boolean;
  readonly program: RedisProgram;
  readonly supervisor: Supervisor;
}

/**
 * One redis-server, a data node or a Sentinel; it keeps its port and its directory over restarts, but no data
 * of its own. `kill()` resets its connections.
 */
export class RedisNode extends Component {
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly #address: Address;

  constructor({ name, port, dir, config, sentinel, program, supervisor, ca, credentials }: NodeParts) {
    const configFile = join(dir, `${name}.conf`);
    writeFileSync(configFile, `${config.join('\n')}\n`, { mode: 0o600 });
    const args = [configFile, ...(sentinel ? ['--sentinel'] : [])];
    super({
      supervisor,
      command: { name, command: program.command, args, env: program.env, logFile: join(dir, `${name}.log`) },
      ready: async () => (await this.command('PING')) === 'PONG',
      readyTimeoutMs: 10_000,
    });
    this.port = port;
    this.#address = { host: this.host, port, ca, credentials };
  }

  /** One command on a connection of its own; with ACL users, as one who may do everything. */
  command(...command: string[]): Promise<Reply> {
    return ask(this.#address, command);
  }
}
