import type { Check, Finding } from '../finding.ts';
import { nameOf } from './object.ts';

/**
 * Pods that admission has not decided on. Those from before the workload was enabled are as they should be; one that is
 * younger than a steered one went past the webhook.
 */
export const areSteered: Check = ({ survey }) =>
  survey.workloads.flatMap((workload): Finding[] => {
    if (!survey.managedOf(workload).managed || survey.policyOf(workload).kind === 'none') return [];
    const pods = survey.podsOf(workload).filter(({ ended }) => !ended);
    const unsteered = pods.filter(({ admitted }) => admitted === undefined);
    if (unsteered.length === 0) return [];
    const firstMs = Math.min(
      ...pods.filter(({ admitted }) => admitted !== undefined).map(({ createdAtMs }) => createdAtMs),
    );
    const missed = unsteered.filter(({ createdAtMs }) => createdAtMs > firstMs);
    const object = nameOf(workload);
    if (missed.length > 0) {
      return [
        {
          id: 'pods-unsteered',
          severity: 'warning',
          object,
          what: `${missed.length} of its ${pods.length} pods went past the webhook, though older ones did not: ${missed[0]?.metadata.name ?? ''}`,
          why: 'they are wherever the scheduler put them, and repaired by moves',
          remedy: 'docs/runbooks.md#spotalisadmissionsunsteered',
        },
      ];
    }
    return [
      {
        id: 'pods-unsteered',
        severity: 'info',
        object,
        what: `${unsteered.length} of its ${pods.length} pods were not steered; they may be from before it was enabled`,
        why: 'they are moved where the share asks for it, and replaced in time by rollouts',
        remedy: `kubectl spotalis explain ${workload.workloadKind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace ?? ''}`,
      },
    ];
  });
