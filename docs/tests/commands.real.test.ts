/** @needs control-plane helm kubectl */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Cluster,
  type KubeObject,
  prepareHelm,
  prepareKubectl,
  startCluster,
  waitFor,
} from '@spotalis/cluster';
import { manifest } from '@spotalis/e2e/workloads';
import { commands } from './commands.ts';
import { root } from './pages.ts';

/** Played by a test of their own, as they take long or never end by themselves. */
const playedElsewhere: Readonly<Record<string, string>> = {
  'npm start': 'tour/tour.real.test.ts',
  'npm test': 'it is what runs this',
};
/** Fake pods have no logs; the real node's tests read those of real ones. */
const needsRealPods = / logs /;
/** They go on until somebody ends them. */
const watches = / (-w|--watch)\b/;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function web(kind: 'Deployment' | 'StatefulSet', namespace: string): KubeObject {
  const policy = { spotPercentage: 70, minOnDemand: 1 };
  const { metadata: _, ...unmanaged } = manifest({ kind, name: 'web', namespace, replicas: 3, policy });
  return { ...unmanaged, metadata: { name: 'web', namespace } };
}

describe('what the documentation tells people to type', () => {
  let cluster: Cluster;
  let bin: string;

  beforeAll(async () => {
    cluster = await startCluster();
    bin = mkdtempSync(join(tmpdir(), 'docs-'));
    symlinkSync(await prepareHelm(), join(bin, 'helm'));
    symlinkSync(await prepareKubectl(), join(bin, 'kubectl'));
    // As the package installs it.
    const plugin = join(bin, 'kubectl-spotalis');
    const script = join(root, 'packages/cli/dist/kubectl-spotalis.mjs');
    writeFileSync(plugin, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`);
    chmodSync(plugin, 0o755);
    // What the examples speak of: the README gives the one in `shop` its policy.
    await cluster.api.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
      web('Deployment', 'shop'),
      web('Deployment', 'default'),
      web('StatefulSet', 'default'),
    ]);
    await waitFor('a pod of each', async () => {
      const names = (await cluster.api.list('Pod')).map(({ metadata }) => metadata?.name);
      return names.length > 6 && names.includes('web-0');
    });
  }, 600_000);

  afterAll(async () => {
    await cluster?.stop();
    if (bin) rmSync(bin, { recursive: true, force: true });
  });

  function type(line: string): Promise<Ended> {
    return new Promise((resolve) => {
      const env = {
        ...process.env,
        KUBECONFIG: cluster.kubeconfig,
        PATH: `${bin}:${dirname(process.execPath)}:${process.env['PATH']}`,
        HOME: bin,
      };
      const child = spawn('sh', ['-c', line], { cwd: root, env });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (piece: Buffer) => {
          output += piece.toString();
        });
      }
      child.on('close', (code) => resolve({ code, output }));
    });
  }

  const typed = commands.filter(
    ({ line }) => !(line in playedElsewhere) && !needsRealPods.test(line) && !watches.test(line),
  );

  it('is found', () => {
    expect(typed.map(({ line }) => line)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^helm install /), 'kubectl spotalis status -A']),
    );
  });

  it.each(typed)(
    'works: $line ($page)',
    async ({ line }) => {
      const { code, output } = await type(line);
      // 3: the answer is no, and is given; see docs/cli.md.
      const good = line.startsWith('kubectl spotalis') ? [0, 3] : [0];
      expect(good.includes(code ?? -1) ? 'it works' : `code ${code}: ${output}`).toBe('it works');
    },
    120_000,
  );
});
