import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

type RedisChoice = 'real' | 'memory' | 'none';

export interface UpPlan {
  readonly stateDir: string;
  readonly spotNodes: number;
  readonly onDemandNodes: number;
  readonly podsPerNode: number;
  readonly redis: RedisChoice;
  readonly webhooks: number;
  readonly controllers: number;
  readonly audit: boolean;
  readonly realNode: boolean;
  readonly port?: number;
  readonly binaries?: string;
}

export type Invocation =
  | { readonly command: 'help' }
  | { readonly command: 'up'; readonly plan: UpPlan; readonly json: boolean }
  | { readonly command: 'down' | 'status'; readonly stateDir: string; readonly json: boolean };

export const USAGE = `A Kubernetes control plane with fake spot and on-demand nodes, on this machine.

  npm run cluster -- up --state DIR       start one; returns when it is ready
  npm run cluster -- status --state DIR   what runs
  npm run cluster -- down --state DIR     end it and remove DIR

up takes
  --spot-nodes 6        --on-demand-nodes 6     --pods-per-node 110
  --redis real|memory|none                      none by default
  --webhooks 0          --controllers 0         how many of our services to start
  --port PORT           of the API server; a free one by default
  --audit               log every API request
  --real-node           a kubelet with real containers as well (needs root)
  --binaries DIR        etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok
and every command takes
  --json                machine-readable output
`;

/** The user asked for something that cannot be; the message is one line that says what would be right. */
class UsageError extends Error {
  readonly code = 'USAGE';
}

const OPTIONS = {
  state: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
  'spot-nodes': { type: 'string', default: '6' },
  'on-demand-nodes': { type: 'string', default: '6' },
  'pods-per-node': { type: 'string', default: '110' },
  redis: { type: 'string', default: 'none' },
  webhooks: { type: 'string', default: '0' },
  controllers: { type: 'string', default: '0' },
  port: { type: 'string' },
  audit: { type: 'boolean', default: false },
  'real-node': { type: 'boolean', default: false },
  binaries: { type: 'string' },
} as const;

/** What `down` and `status` understand as well. */
const EVERYWHERE = new Set(['state', 'json', 'help']);
const COMMANDS = ['up', 'down', 'status'];

export function readArguments(args: readonly string[]): Invocation {
  const { values, positionals, tokens } = parse(args);
  if (values.help || args.length === 0) return { command: 'help' };
  const [command, ...rest] = positionals;
  if (command !== 'up' && command !== 'down' && command !== 'status') {
    throw new UsageError(
      `${command ? `there is no command ${command}` : 'a command is missing'}: say one of ${COMMANDS.join(', ')}`,
    );
  }
  if (rest.length > 0)
    throw new UsageError(`${command} takes no ${rest[0]}: options start with --, as in --state DIR`);
  if (!values.state) throw new UsageError(`${command} needs --state DIR, as in --state /tmp/spotalis`);
  const stateDir = resolve(values.state);
  if (command !== 'up') {
    const foreign = tokens.find((token) => token.kind === 'option' && !EVERYWHERE.has(token.name));
    if (foreign?.kind === 'option') throw new UsageError(`--${foreign.name} is for up, not for ${command}`);
    return { command, stateDir, json: values.json };
  }
  const plan: UpPlan = {
    stateDir,
    spotNodes: wholeNumber('spot-nodes', values['spot-nodes'], 0, 5000),
    onDemandNodes: wholeNumber('on-demand-nodes', values['on-demand-nodes'], 0, 5000),
    podsPerNode: wholeNumber('pods-per-node', values['pods-per-node'], 1, 100_000),
    redis: redisChoice(values.redis),
    webhooks: wholeNumber('webhooks', values.webhooks, 0, 50),
    controllers: wholeNumber('controllers', values.controllers, 0, 10),
    audit: values.audit,
    realNode: values['real-node'],
    ...(values.port !== undefined && { port: wholeNumber('port', values.port, 1, 65_535) }),
    ...(values.binaries !== undefined && { binaries: values.binaries }),
  };
  if (plan.webhooks + plan.controllers > 0 && plan.redis === 'none')
    throw new UsageError('services need a ledger: add --redis real, or --redis memory for one webhook');
  if (plan.webhooks > 1 && plan.redis === 'memory')
    throw new UsageError(
      `--redis memory serves one webhook, not ${plan.webhooks}: each would have a ledger of its own; say --redis real`,
    );
  return { command, plan, json: values.json };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, tokens: true });
  } catch (error) {
    // Node goes on with advice about positional arguments.
    const [sentence] = String(error instanceof Error ? error.message : error).split(/\.\s|\n/);
    throw new UsageError(`${sentence}: npm run cluster -- --help shows what there is`, { cause: error });
  }
}

function wholeNumber(option: string, value: string, least: number, most: number): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= least && number <= most) return number;
  throw new UsageError(`--${option} is a whole number from ${least} to ${most}, not '${value}'`);
}

function redisChoice(value: string): RedisChoice {
  if (value === 'real' || value === 'memory' || value === 'none') return value;
  throw new UsageError(`--redis is real, memory or none, not '${value}'`);
}
