import { enabledLabel, type ObservedWorkload } from '@spotalis/core';
import { type ApiClient, resource } from '@spotalis/kube';
import type { Survey } from '../cluster/survey.ts';

const resources = {
  Namespace: resource('v1', 'namespaces', 'Namespace'),
  Deployment: resource('apps/v1', 'deployments', 'Deployment'),
  StatefulSet: resource('apps/v1', 'statefulsets', 'StatefulSet'),
};

/** One merge patch of metadata. A label of null is taken away. */
export interface Edit {
  readonly kind: keyof typeof resources;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly labels: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** As `kubectl` would be told to do it. */
export function commandsOf({ kind, namespace, name, labels, annotations }: Edit): readonly string[] {
  const where = namespace === undefined ? '' : ` -n ${namespace}`;
  const words = (map: Edit['labels']): string[] =>
    Object.entries(map).map(([key, value]) => (value === null ? `${key}-` : `${key}=${value}`));
  const command = (verb: string, map: Edit['labels']): string[] =>
    Object.keys(map).length === 0
      ? []
      : [`kubectl ${verb} ${kind.toLowerCase()} ${name}${where} --overwrite ${words(map).join(' ')}`];
  return [...command('annotate', annotations), ...command('label', labels)];
}

export async function apply(client: ApiClient, edits: readonly Edit[], dryRun: boolean): Promise<void> {
  for (const { kind, namespace, name, labels, annotations } of edits) {
    const place = namespace === undefined ? { name } : { namespace, name };
    await client.mergePatch(
      resources[kind],
      place,
      { metadata: { labels, annotations } },
      { fieldManager: 'kubectl-spotalis', dryRun },
    );
  }
}

/** The policy comes before the label, and the workload before its namespace: nothing is managed half-way. */
export function enabling(
  survey: Survey,
  { metadata, workloadKind, labels }: ObservedWorkload,
  annotations: Readonly<Record<string, string>>,
): readonly Edit[] {
  const { namespace = '', name } = metadata;
  const on = { [enabledLabel]: 'true' };
  const isLabelled = labels[enabledLabel] === 'true';
  const edits: Edit[] = [];
  if (!isLabelled || Object.keys(annotations).length > 0) {
    edits.push({ kind: workloadKind, namespace, name, labels: isLabelled ? {} : on, annotations });
  }
  if (!survey.isNamespaceLabelled(namespace)) {
    edits.push({ kind: 'Namespace', namespace: undefined, name: namespace, labels: on, annotations: {} });
  }
  return edits;
}

export function disabling({ metadata, workloadKind, labels }: ObservedWorkload): readonly Edit[] {
  const { namespace = '', name } = metadata;
  if (labels[enabledLabel] === undefined) return [];
  return [{ kind: workloadKind, namespace, name, labels: { [enabledLabel]: null }, annotations: {} }];
}
