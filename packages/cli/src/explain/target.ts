import { type ObservedPod, type ObservedWorkload, type WorkloadKind } from '@spotalis/core';
import { nearest } from '@spotalis/units';
import type { Survey } from '../cluster/survey.ts';
import { CliError } from '../command/error.ts';

const kinds: Readonly<Record<string, WorkloadKind | 'Pod'>> = {
  pod: 'Pod',
  pods: 'Pod',
  po: 'Pod',
  deployment: 'Deployment',
  deployments: 'Deployment',
  deploy: 'Deployment',
  statefulset: 'StatefulSet',
  statefulsets: 'StatefulSet',
  sts: 'StatefulSet',
};

export interface Named {
  readonly kind: WorkloadKind | 'Pod';
  readonly name: string;
}

/** `deployment/web`, as kubectl writes it. */
export function readTarget(text: string, allowed: readonly (WorkloadKind | 'Pod')[]): Named {
  const example = `Example: ${allowed.map((kind) => `${kind.toLowerCase()}/${kind === 'Pod' ? 'web-7d4b9-x2x7k' : 'web'}`).join(', ')}`;
  const slash = text.indexOf('/');
  if (slash < 0) throw new CliError('USAGE', `${JSON.stringify(text)} names no kind`, example);
  const [before, name] = [text.slice(0, slash), text.slice(slash + 1)];
  const [word = '', ...group] = before.toLowerCase().split('.');
  const kind = group.length === 0 || group.join('.') === 'apps' ? kinds[word] : undefined;
  if (kind === undefined || !allowed.includes(kind)) {
    const near = nearest(
      before,
      allowed.map((each) => each.toLowerCase()),
    );
    const meant = near === null ? '' : ` Did you mean ${near}/${name}?`;
    throw new CliError('USAGE', `${before} is not a kind that this command knows.${meant}`, example);
  }
  if (name === '' || name.includes('/'))
    throw new CliError('USAGE', `${JSON.stringify(text)} names nothing`, example);
  return { kind, name };
}

function notFound(kind: string, namespace: string, name: string, known: readonly string[]): never {
  const near = nearest(name, known);
  throw new CliError(
    'NOT_FOUND',
    `there is no ${kind} ${name} in namespace ${namespace}`,
    near === null ? 'Name another namespace with -n.' : `Did you mean ${near}?`,
  );
}

export function workloadNamed(
  survey: Survey,
  { kind, name }: { readonly kind: WorkloadKind; readonly name: string },
  namespace: string,
): ObservedWorkload {
  const known = survey.workloads
    .filter((one) => one.workloadKind === kind && one.metadata.namespace === namespace)
    .map(({ metadata }) => metadata.name);
  return survey.workload(kind, namespace, name) ?? notFound(kind.toLowerCase(), namespace, name, known);
}

export const podNamed = (survey: Survey, name: string, namespace: string): ObservedPod =>
  survey.pod(namespace, name) ?? notFound('pod', namespace, name, []);
