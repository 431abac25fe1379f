import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { connectCluster, Terminal, waitFor } from '@spotalis/cluster';
import { manifest, optedInNamespace } from '@spotalis/e2e/workloads';
import { scenes } from './scenes/catalogue.ts';

const names = scenes.map(({ name }) => name).join(', ');
const script = fileURLToPath(new URL('main.ts', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Processes that carry this directory in their environment: the tour's own, whoever their parent is by now. */
function processesWith(directory: string): string[] {
  return readdirSync('/proc').filter((entry) => {
    try {
      return (
        /^\d+$/.test(entry) && readFileSync(`/proc/${entry}/environ`, 'utf8').includes(`TMPDIR=${directory}`)
      );
    } catch {
      return false;
    }
  });
}

async function addOwn(kubeconfig: string): Promise<void> {
  const cluster = await connectCluster(kubeconfig);
  await cluster.api.apply([
    optedInNamespace('own'),
    manifest({
      name: 'mine',
      namespace: 'own',
      replicas: 4,
      policy: { spotPercentage: 50, minOnDemand: 0 },
    }),
  ]);
  await cluster.disconnect();
}

describe('the tour', () => {
  let temporary: string;

  beforeEach(() => {
    temporary = mkdtempSync(join(tmpdir(), 'tour-test-'));
  });

  afterEach(() => {
    rmSync(temporary, { recursive: true, force: true });
  });

  function start(
    args: readonly string[],
    seen: (output: string, end: (signal: NodeJS.Signals) => void) => void,
  ) {
    return new Promise<Ended>((resolve) => {
      const child = spawn(process.execPath, [script, ...args], {
        env: { ...process.env, TMPDIR: temporary },
      });
      let output = '';
      const listen = (piece: Buffer): void => {
        output += piece.toString();
        seen(output, (signal) => child.kill(signal));
      };
      child.stdout.on('data', listen);
      child.stderr.on('data', listen);
      child.on('close', (code) => resolve({ code, output }));
    });
  }

  const nothing = (): void => undefined;

  it.each([
    { redis: 'real', up: 'Up: 3 webhooks, 2 controllers, ledger in Redis.' },
    { redis: 'memory', up: 'Up: 1 webhook, 2 controllers, ledger in the webhook.' },
  ])(
    'splits the sample workloads with --redis $redis, ends by itself and leaves nothing',
    async ({ redis, up }) => {
      const { code, output } = await start(['--exit-when-settled', '--redis', redis], nothing);
      expect(output).toContain(up);
      expect(output.match(/on target/g)).toHaveLength(4);
      expect(output).toMatch(/Settled [\d.]+ s after/);
      expect(code).toBe(0);
      expect(readdirSync(temporary)).toEqual([]);
      expect(processesWith(temporary)).toEqual([]);
    },
    240_000,
  );

  it.each([
    { when: 'once it is up', sign: 'KUBECONFIG=' },
    { when: 'while it starts', sign: 'Starting a control plane' },
  ])(
    'ends at Ctrl-C $when and leaves nothing',
    async ({ sign }) => {
      let asked = false;
      const { code } = await start([], (output, end) => {
        if (asked || !output.includes(sign)) return;
        asked = true;
        end('SIGINT');
      });
      expect(code).toBe(0);
      // What was just starting is ended by its watchdog.
      await waitFor(
        'nothing to be left',
        () => readdirSync(temporary).length + processesWith(temporary).length === 0,
      );
    },
    240_000,
  );

  it('shows a workload that somebody adds', async () => {
    let added: Promise<unknown> | undefined;
    let asked = false;
    const { output } = await start([], (seen, end) => {
      const kubeconfig = seen.match(/KUBECONFIG=(\S+)/)?.[1];
      if (kubeconfig !== undefined) added ??= addOwn(kubeconfig);
      if (asked || !/^own\/mine .* 2\/2 +2\/2 +on target$/m.test(seen)) return;
      asked = true;
      end('SIGINT');
    });
    await added;
    expect(output).toMatch(/^own\/mine +50 % spot, 0 must not +4 /m);
  }, 120_000);

  it('plays a scene at the press of a key, whatever became of its workload', async () => {
    const env = { ...process.env, TMPDIR: temporary };
    const terminal = Terminal.open(`'${process.execPath}' '${script}'`, { env, columns: 140 });
    try {
      await terminal.until('the menu', () => terminal.seen.includes('Press a number:'), 120_000);
      const cluster = await connectCluster(/KUBECONFIG=(\S+)/.exec(terminal.read)?.[1] ?? '');
      await cluster.api.delete('Deployment', 'shop/web');
      await cluster.disconnect();
      terminal.type('1');
      const isTold = () => terminal.seen.includes('scale: 0 pods off target, 0 evictions');
      await terminal.until('what happened', isTold, 60_000);
      terminal.type('q');
      expect(await terminal.ended(30_000)).toBe(0);
    } finally {
      terminal.close();
    }
    expect(readdirSync(temporary)).toEqual([]);
    expect(processesWith(temporary)).toEqual([]);
  }, 240_000);

  it('plays all scenes, tells what happened, and records them', async () => {
    const file = join(temporary, 'tour.svg');
    const { code, output } = await start(['--scene', 'all', '--record', file], nothing);
    const endings = scenes.map(({ name }) => output.match(new RegExp(`^${name}: .*$`, 'm'))?.[0]);
    expect(endings).toEqual(scenes.map(({ name }) => expect.stringMatching(`^${name}: 0 pods off target, `)));
    expect(output).toMatch(
      /^scale: .* 0 evictions, .*made it 28 on spot, 12 on on-demand; back at 10 it was 7 on/m,
    );
    expect(output).toMatch(/^rollout: .* 0 evictions, /m);
    expect(output).toMatch(/^share: .* 4 evictions, .* 2 moves there and 2 back\.$/m);
    const [, evictions, moves] =
      output.match(
        /^drought: .* (\d+) evictions, .* Ready again after \d+\.\d s without spot; (\d+) moves /m,
      ) ?? [];
    expect(moves).toBe('47');
    // Each of 47 made way for a substitute once, but for those that a slow machine makes when substitutes come anyway.
    expect(Number(evictions)).toBeLessThanOrEqual(2 * 47);
    expect(Number(evictions)).toBeGreaterThan(47);
    expect(code).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('shop/web');
    rmSync(file);
    expect(readdirSync(temporary)).toEqual([]);
  }, 600_000);

  it('names an unknown flag', async () => {
    const { code, output } = await start(['--exit-when-setled'], nothing);
    expect(code).toBe(1);
    expect(output).toMatch(/^spotalis: Unknown option '--exit-when-setled'.*\n$/);
  });

  it('names the scenes there are', async () => {
    const { code, output } = await start(['--scene', 'party'], nothing);
    expect(code).toBe(1);
    expect(output).toBe(`spotalis: there is no scene 'party'; there are ${names}, and all\n`);
  });
});
