import {
  allowedTypes,
  foreignKeys,
  hasForeignCost,
  type ObservedWorkload,
  readCapacity,
  type TemplateView,
  targetSpot,
} from '@spotalis/core';
import type { Survey } from '../../cluster/survey.ts';
import type { Check, Finding } from '../finding.ts';
import { nameOf } from './object.ts';

/** What its next pods are made of; none where it wants no pods. */
function templatesOf(survey: Survey, workload: ObservedWorkload): readonly TemplateView[] {
  const { rollout } = workload;
  if (rollout.kind === 'StatefulSet') return [rollout.template];
  return survey
    .replicaSetsOf(workload)
    .filter(({ replicas }) => replicas > 0)
    .map(({ template }) => template);
}

export const costIsOurs: Check = ({ survey }) =>
  survey.workloads
    .filter((workload) => workload.workloadKind === 'Deployment' && survey.managedOf(workload).managed)
    .filter((workload) =>
      templatesOf(survey, workload).some(({ metadata }) => hasForeignCost(metadata?.annotations ?? {})),
    )
    .map((workload) => ({
      id: 'deletion-cost',
      severity: 'warning',
      object: nameOf(workload),
      what: `its pod template sets ${foreignKeys.podDeletionCost}`,
      why: 'it is left alone, so the pods that a scale-down takes are not chosen by type: it may need moves afterwards',
      remedy: 'take it out of the template where nothing else needs it: docs/concepts.md',
    }));

/** A template that pins pods to one type cannot have the share that its policy asks for. */
export const templateAllows: Check = ({ survey }) => {
  const capacity = readCapacity(survey.settings.values);
  if (!capacity.ok) return [];
  const { placement } = capacity.value;
  return survey.workloads.flatMap((workload): Finding[] => {
    if (!survey.managedOf(workload).managed) return [];
    const policy = survey.policyOf(workload);
    if (policy.kind === 'none') return [];
    const spot = targetSpot(policy.numbers, workload.replicas);
    const wanted = [
      ...(spot > 0 ? ['spot' as const] : []),
      ...(workload.replicas > spot ? ['on-demand' as const] : []),
    ];
    for (const { spec } of templatesOf(survey, workload)) {
      const allowed = allowedTypes(spec, placement);
      if (allowed === 'both' || wanted.every((type) => type === allowed)) continue;
      return [
        {
          id: 'placement-conflict',
          severity: 'warning',
          object: nameOf(workload),
          what: `its pod template allows ${allowed === 'none' ? 'neither type' : `${allowed} only`}, and its policy wants ${wanted.join(' and ')}`,
          why: 'affinity and selectors of a template are kept, so the share is never reached',
          remedy: 'take the capacity type out of nodeSelector and affinity of the template: docs/concepts.md',
        },
      ];
    }
    return [];
  });
};
