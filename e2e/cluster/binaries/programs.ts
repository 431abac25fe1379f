import { join } from 'node:path';
import { cacheDir } from '../cache.ts';
import { type Alternative, alternative, versionOf } from '../versions.ts';

export const PROGRAM_NAMES = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kwok',
] as const;
/** What a real node takes on top. */
export const NODE_PROGRAM_NAMES = ['kubelet', 'kube-proxy'] as const;
/** What people use beside it. */
type ClientName = 'helm' | 'kubectl';
/** Built from its module under `go/`, and never fetched. */
export type OwnProgram = 'karpenter' | 'cert-manager' | 'metrics-server';
export type ProgramName = (typeof PROGRAM_NAMES)[number] | (typeof NODE_PROGRAM_NAMES)[number] | ClientName;
/** Where each program is. */
export type Programs = Readonly<Record<(typeof PROGRAM_NAMES)[number], string>>;
export type NodePrograms = Readonly<Record<(typeof NODE_PROGRAM_NAMES)[number], string>>;

export type Project = 'kubernetes' | 'etcd' | 'kwok' | 'helm';

export function projectOf(program: ProgramName): Project {
  return program === 'etcd' || program === 'kwok' || program === 'helm' ? program : 'kubernetes';
}

/** The folder under `go/` that builds it, as far as the usual version goes. */
export const sourceOf = (program: ProgramName | OwnProgram): Project | OwnProgram =>
  program === 'karpenter' || program === 'cert-manager' || program === 'metrics-server'
    ? program
    : projectOf(program);

/** The project and its version are in the path: another version never finds this one's programs. */
export function cachedProgram(
  program: ProgramName | OwnProgram,
  played: Alternative | undefined = alternative(),
): string {
  const project = sourceOf(program);
  return join(cacheDir(), 'bin', `${project}-${versionOf(project, played)}`, program);
}
