import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../process/run.ts';
import { ALTERNATIVES, alternative, majorOf, versionOf } from '../versions.ts';
import type { GoToolchain } from './go.ts';
import { type OwnProgram, type ProgramName, sourceOf } from './programs.ts';

type Built = ProgramName | OwnProgram;

const PACKAGES = (): Readonly<Record<Built, string>> => ({
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kwok: 'sigs.k8s.io/kwok/cmd/kwok',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  kubelet: 'k8s.io/kubernetes/cmd/kubelet',
  'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
  karpenter: 'spotalis.io/e2e/karpenter',
  'cert-manager': 'spotalis.io/e2e/cert-manager',
  'metrics-server': 'sigs.k8s.io/metrics-server/cmd/metrics-server',
  helm: `helm.sh/helm/v${majorOf('helm')}/cmd/helm`,
});

/** Builds one program from its Go module, whose checksums are in the go.sum beside it. */
export async function build(program: Built, target: string, go: GoToolchain): Promise<void> {
  mkdirSync(dirname(target), { recursive: true });
  const unfinished = `${target}-${process.pid}`;
  const args = [
    'build',
    '-mod=readonly',
    '-trimpath',
    '-buildvcs=false',
    '-ldflags',
    linkerFlags(program),
    '-o',
    unfinished,
    PACKAGES()[program],
  ];
  const moduleDir = moduleDirOf(program);
  try {
    const { ok, stderr } = await run(go.command, args, go.env, moduleDir);
    if (!ok)
      throw new Error(`go build of ${program} failed:\n${stderr.trim().split('\n').slice(-5).join('\n')}`);
    renameSync(unfinished, target);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Where the module is that builds it. */
export function moduleDirOf(program: Built): string {
  const project = sourceOf(program);
  const other = alternative();
  const module = other !== undefined && ALTERNATIVES[other].project === project ? other : project;
  return fileURLToPath(new URL(`../go/${module}/`, import.meta.url));
}

function linkerFlags(program: Built): string {
  const withoutSymbols = '-s -w';
  if (sourceOf(program) !== 'kubernetes') return withoutSymbols;
  // Else it reports v0.0.0, and clients decide by the version what it can do.
  const version = versionOf('kubernetes');
  const [major, minor] = version.split('.');
  const values = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor };
  const settings = Object.entries(values).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return [withoutSymbols, ...settings].join(' ');
}
