import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts, nodeArgsOf, nodeEnvironment, waitFor } from '@spotalis/cluster';
import { createAuthority, issueLeaf } from '@spotalis/runtime';
import { kubeconfigOf } from '../src/testing/service.ts';

/** A server under load, in a process of its own. */
export interface Target {
  readonly name: 'webhook' | 'echo';
  readonly port: number;
  /** PEM. */
  readonly ca: string;
  rssMb(): number;
  /** What of it are pages of files, of Node first of all, which all its processes share. */
  filesMb(): number;
  /** User and system time so far, counted in 10 ms. */
  cpuMs(): number;
  stop(): Promise<void>;
}

export interface WebhookTarget extends Target {
  /** What it counted: which reads it needed, and how its decisions came about. */
  counters(): Promise<Readonly<Record<string, number>>>;
}

const dayMs = 86_400_000;

export async function startWebhook(apiUrl: string, redisUrl: string): Promise<WebhookTarget> {
  const { directory, ca } = await certificates();
  const [port = 0, metrics = 0, health = 0, debug = 0] = await freePorts(4);
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigOf(apiUrl));
  const script = fileURLToPath(new URL('../dist/webhook.mjs', import.meta.url));
  const child = start([...nodeArgsOf('webhook'), script, '--kubeconfig', kubeconfig], {
    ...nodeEnvironment(),
    SPOTALIS_REDIS_URL: redisUrl,
    SPOTALIS_WEBHOOK_PORT: String(port),
    SPOTALIS_WEBHOOK_CERTS_MODE: 'provided',
    SPOTALIS_WEBHOOK_CERT_DIR: directory,
    SPOTALIS_WEBHOOK_DRAIN_GRACE: '0',
    SPOTALIS_PLACEMENT_ASSUME_LABELS: 'true',
    SPOTALIS_METRICS_PORT: String(metrics),
    SPOTALIS_HEALTH_PORT: String(health),
    SPOTALIS_DEBUG_PORT: String(debug),
  });
  await waitFor('the webhook', async () => (await fetch(`http://127.0.0.1:${health}/readyz`)).ok);
  return {
    name: 'webhook',
    port,
    ca,
    ...processOf(child, directory),
    async counters() {
      const page = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
      const lines = page
        .split('\n')
        .filter((line) => /^spotalis_(admissions|webhook_reads)_total\{/.test(line));
      const pairs = lines.map(
        (line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))] as const,
      );
      return Object.fromEntries(pairs.filter(([, value]) => value > 0));
    },
  };
}

const echoServer = `
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
const [directory, port] = process.argv.slice(-2);
const tls = { cert: readFileSync(directory + '/tls.crt'), key: readFileSync(directory + '/tls.key') };
createServer({ ...tls, keepAliveTimeout: 120_000 }, (request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    const body = Buffer.concat(chunks);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  });
}).listen(Number(port), '127.0.0.1');
`;

export async function startEcho(): Promise<Target> {
  const { directory, ca } = await certificates();
  const [port = 0] = await freePorts(1);
  const child = start(['--input-type=module', '--eval', echoServer, directory, String(port)], {});
  await waitFor('the echo server', () =>
    fetch(`http://127.0.0.1:${port}`).then(
      () => true,
      (error: Error) => !String(error.cause).includes('ECONNREFUSED'),
    ),
  );
  return { name: 'echo', port, ca, ...processOf(child, directory) };
}

async function certificates(): Promise<{ readonly directory: string; readonly ca: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'spotalis-bench-'));
  const validity = { notBeforeMs: Date.now() - dayMs, notAfterMs: Date.now() + dayMs };
  const authority = await createAuthority({ commonName: 'bench', ...validity });
  const leaf = await issueLeaf(authority, { names: ['localhost'], ...validity });
  writeFileSync(join(directory, 'tls.crt'), leaf.cert);
  writeFileSync(join(directory, 'tls.key'), leaf.key);
  return { directory, ca: authority.cert };
}

function start(args: readonly string[], environment: Readonly<Record<string, string>>): ChildProcess {
  // Its decision log goes to nowhere, as to a pipe that somebody else reads.
  const child = spawn(process.execPath, args, {
    env: { ...foreignEnvironment(), ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return child;
}

/** A service refuses variables of ours that it does not know, and some concern only how this was started. */
function foreignEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SPOTALIS_')));
}

function processOf(
  child: ChildProcess,
  directory: string,
): Pick<Target, 'rssMb' | 'filesMb' | 'cpuMs' | 'stop'> {
  const mebibytesOf = (field: string): number => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return Math.round(Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1_024);
  };
  return {
    rssMb: () => mebibytesOf('VmRSS'),
    filesMb: () => mebibytesOf('RssFile'),
    cpuMs() {
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
      // The name, in parentheses, may hold anything; after it come the state and 11 more.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
