import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mustBeDeclared } from '../process/declared.ts';
import { run } from '../process/run.ts';
import { moduleDirOf } from './build.ts';
import type { GoToolchain } from './go.ts';
import { findOwnProgram } from './own.ts';
import { cachedProgram } from './programs.ts';

export interface KarpenterProgram {
  readonly command: string;
  /** Holds its CustomResourceDefinitions. */
  readonly crdDir: string;
}

const MODULE = 'sigs.k8s.io/karpenter';

/** Karpenter with its KWOK provider, from the cache or built from its module; or why it cannot be had here. */
export async function findKarpenter(
  report: (line: string) => void,
): Promise<KarpenterProgram | { readonly missing: string }> {
  mustBeDeclared('karpenter');
  const crdDir = join(dirname(cachedProgram('karpenter')), 'crds');
  const found = await findOwnProgram('karpenter', report, (go) => copyDefinitions(crdDir, go));
  return 'missing' in found ? found : { ...found, crdDir };
}

async function copyDefinitions(target: string, go: GoToolchain): Promise<void> {
  const dir = moduleDirOf('karpenter');
  const download = await run(go.command, ['mod', 'download', MODULE], go.env, dir);
  if (!download.ok) throw new Error(download.stderr.trim());
  const { stdout } = await run(go.command, ['list', '-m', '-f', '{{.Dir}}', MODULE], go.env, dir);
  mkdirSync(target, { recursive: true });
  for (const part of ['pkg', 'kwok']) {
    const source = join(stdout.trim(), part, 'apis', 'crds');
    for (const name of readdirSync(source)) copyFileSync(join(source, name), join(target, name));
  }
}
