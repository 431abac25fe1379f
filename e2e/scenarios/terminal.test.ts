/** @needs control-plane shells */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, findShells, type Shell, startCluster, startProxy, Terminal } from '@spotalis/cluster';
import { manifest, optedInNamespace } from '../workloads/workload.ts';

const execute = promisify(execFile);
const program = fileURLToPath(new URL('../../packages/cli/dist/kubectl-spotalis.mjs', import.meta.url));
const shells = await findShells((line) => process.stdout.write(`${line}\n`));
if ('missing' in shells) {
  // On a machine of our own choice nothing is left out in silence.
  if (process.env['CI']) throw new Error(shells.missing);
  process.stdout.write(`completion in zsh and fish is left out: ${shells.missing}\n`);
}
const itOrSkip = 'missing' in shells ? it.skip : it;
const found = (name: 'zsh' | 'fish'): Shell => {
  if ('missing' in shells) throw new Error(shells.missing);
  return shells[name];
};

/** One cluster, on which nothing of ours runs: the program needs no service. */
describe('kubectl spotalis on a terminal', () => {
  let cluster: Cluster;
  let dir: string;
  let env: NodeJS.ProcessEnv;
  const opened: Terminal[] = [];

  beforeAll(async () => {
    cluster = await startCluster({ spotNodes: 1, onDemandNodes: 1 });
    const policy = { spotPercentage: 50, minOnDemand: 1 };
    const declared = { name: 'web', namespace: 'shop', replicas: 2, policy };
    await cluster.api.apply([optedInNamespace('shop'), manifest(declared)]);
    dir = mkdtempSync(join(tmpdir(), 'spotalis-terminal-'));
    mkdirSync(join(dir, 'bin'));
    symlinkSync(program, join(dir, 'bin', 'kubectl-spotalis'));
    const { NO_COLOR: _colour, ...inherited } = process.env;
    const path = [join(dir, 'bin'), dirname(process.execPath), inherited['PATH']].join(':');
    env = { ...inherited, PATH: path, KUBECONFIG: cluster.kubeconfig, HOME: dir };
    for (const shell of ['bash', 'zsh', 'fish', 'kubectl']) {
      const { stdout } = await execute('kubectl-spotalis', ['completion', shell], { env });
      writeFileSync(join(dir, shell), stdout);
    }
  }, 120_000);

  afterAll(async () => {
    for (const terminal of opened) terminal.close();
    await cluster?.stop();
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
  });

  const open = (command: string, more: NodeJS.ProcessEnv = {}): Terminal => {
    const terminal = Terminal.open(command, { env: { ...env, ...more } });
    opened.push(terminal);
    return terminal;
  };

  /** Presses the keys up to each Tab and waits for what comes of it. */
  async function completes(terminal: Terminal): Promise<void> {
    const shows = (what: string) => terminal.until(what, () => terminal.read.includes(what));
    await shows('ready> ');
    terminal.type('kubectl-spotalis pl\t');
    await shows('kubectl-spotalis plan ');
    terminal.type('-n sh\t');
    await shows('plan -n shop ');
    terminal.type('depl\t');
    await shows('-n shop deployment/');
    terminal.type('w\t');
    await shows('-n shop deployment/web ');
    terminal.type('--spot\t');
    await shows('deployment/web --spot-percentage ');
    terminal.type('50 -o j\t');
    await shows('-o json');
    terminal.type('\n');
    await shows('"outcome":');
    terminal.type('exit\n');
    await terminal.ended();
  }

  it('is completed by bash, down to names in the cluster', async () => {
    const rc = join(dir, 'bashrc');
    writeFileSync(rc, `PS1='ready> '\nsource '${join(dir, 'bash')}'\n`);
    await completes(open(`bash --noprofile --rcfile '${rc}' -i`));
  });

  itOrSkip('is completed by zsh, down to names in the cluster', async () => {
    const { command, env: own, prologue } = found('zsh');
    writeFileSync(join(dir, '.zshenv'), `${prologue}\n`);
    const rc = ['autoload -Uz compinit', 'compinit -u -D', `source '${join(dir, 'zsh')}'`, "PS1='ready> '"];
    writeFileSync(join(dir, '.zshrc'), rc.join('\n'));
    await completes(open(`'${command}' -d -i`, { ...own, ZDOTDIR: dir }));
  });

  itOrSkip('is completed by fish, down to names in the cluster', async () => {
    const { command, env: own } = found('fish');
    const offers = {
      pl: ['plan'],
      'plan -n sh': ['shop'],
      'plan -n shop ': ['deployment/', 'statefulset/'],
      'plan -n shop deployment/w': ['deployment/web'],
      'status -o ': ['json', 'wide', 'yaml'],
    };
    const asked = Object.keys(offers).map((line) => `complete -C 'kubectl-spotalis ${line}'; echo ==`);
    const script = [`source '${join(dir, 'fish')}'`, ...asked].join('\n');
    const { stdout } = await execute(command, ['--no-config', '-c', script], { env: { ...env, ...own } });
    const told = stdout.split('==\n').slice(0, -1);
    expect(told.map((lines) => lines.trimEnd().split('\n').toSorted())).toEqual(Object.values(offers));
  });

  it('is completed by kubectl, which asks a program beside it', async () => {
    chmodSync(join(dir, 'kubectl'), 0o755);
    const { stdout } = await execute(join(dir, 'kubectl'), ['plan', '-n', 'shop', 'deployment/w'], { env });
    expect(stdout).toBe('deployment/web\n:4\n');
  });

  it('is watched: what changes is shown, in colour and within the width, until Ctrl-C', async () => {
    const clear = '\u001b[H\u001b[2J';
    const terminal = open('kubectl-spotalis status -n shop -o wide --watch');
    const frames = () => terminal.seen.split(clear).slice(1);
    const rows = () =>
      frames().map((frame) => /deployment\/web +\S+ +(\d+)/.exec(stripVTControlCharacters(frame))?.[1]);
    await terminal.until('two looks', () => rows().filter((replicas) => replicas === '2').length >= 2);
    await cluster.api.patch('Deployment', 'shop/web', { spec: { replicas: 5 } });
    await terminal.until('the change', () => rows().includes('5'));
    const [first = ''] = frames();
    expect(first).toContain('\u001b[2mNAMESPACE');
    const tableLines = stripVTControlCharacters(first)
      .split('\r\n')
      .filter((line) => /^(NAMESPACE|shop) /.test(line));
    expect(tableLines).toHaveLength(2);
    for (const line of tableLines) expect(line.length).toBeLessThanOrEqual(100);
    expect(rows().indexOf('5')).toBeGreaterThan(rows().lastIndexOf('2'));
    terminal.type('\u0003');
    expect(await terminal.ended()).toBe(0);
  });

  it('is watched on after the API server was away for a while', async () => {
    const proxy = await startProxy(cluster.ports.apiserver);
    try {
      const kubeconfig = join(dir, 'proxied');
      const direct = readFileSync(cluster.kubeconfig, 'utf8');
      writeFileSync(kubeconfig, direct.replaceAll(`:${cluster.ports.apiserver}`, `:${proxy.port}`));
      const terminal = open('kubectl-spotalis status -n shop --watch', { KUBECONFIG: kubeconfig });
      const looks = () => terminal.seen.split('NAMESPACE').length - 1;
      await terminal.until('a look', () => looks() > 0);
      proxy.refuse();
      proxy.cut();
      const isTold = () => terminal.seen.includes('Asking again every 2s.');
      // A call tries for half a minute.
      await terminal.until('why there is none', isTold, 60_000);
      expect(terminal.seen).toMatch(/error: [^\n]*no answer from the API server \(ECONNRESET\)/);
      const before = looks();
      proxy.resume();
      await terminal.until('another look', () => looks() > before);
      terminal.type('\u0003');
      expect(await terminal.ended()).toBe(0);
    } finally {
      await proxy.close();
    }
  }, 120_000);

  it('has no colour where NO_COLOR asks for none', async () => {
    const terminal = open('kubectl-spotalis status -n shop', { NO_COLOR: '1' });
    expect(await terminal.ended()).toBe(0);
    expect(terminal.seen).toContain('deployment/web');
    expect(terminal.seen).not.toContain('\u001b[');
  });
});
