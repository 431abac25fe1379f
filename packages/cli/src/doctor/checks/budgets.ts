import { desiredHealthy, type ObservedPdb, selects } from '@spotalis/core';
import type { Check, Finding } from '../finding.ts';
import type { Survey } from '../../cluster/survey.ts';
import { nameOf } from './object.ts';

/** The managed workloads, each with the budgets that select one of its pods. */
function guarded(survey: Survey) {
  return survey.workloads
    .filter((workload) => survey.managedOf(workload).managed)
    .map((workload) => {
      const pods = survey.podsOf(workload).filter(({ ended }) => !ended);
      const pdbs = survey.objects.pdbs.filter(
        ({ metadata, view: { selector } }) =>
          metadata.namespace === workload.metadata.namespace &&
          selector !== null &&
          pods.some(({ labels }) => selects(selector, labels)),
      );
      return { workload, pods, pdbs };
    });
}

const nameOfPdb = ({ metadata }: ObservedPdb): string =>
  `PodDisruptionBudget ${metadata.namespace ?? ''}/${metadata.name}`;

/** A budget that wants as many healthy pods as there are allows no eviction, ever. */
export const budgetsGive: Check = ({ survey }) => {
  const pdbs = new Set(guarded(survey).flatMap((each) => each.pdbs));
  return [...pdbs].flatMap((pdb): Finding[] => {
    const { expectedPods, observedGeneration, generation } = pdb.view;
    const needed = desiredHealthy(pdb.view);
    if (observedGeneration < generation || expectedPods === 0 || needed < expectedPods) return [];
    return [
      {
        id: 'budget-never',
        severity: 'warning',
        object: nameOfPdb(pdb),
        what: `it wants ${needed} healthy pods of ${expectedPods}`,
        why: 'no pod of these is ever moved, nor evicted by anybody: a drain of their node hangs, too',
        remedy: `kubectl -n ${pdb.metadata.namespace ?? ''} edit poddisruptionbudget/${pdb.metadata.name}   (for example maxUnavailable: 1)`,
      },
    ];
  });
};

export const budgetsAreSingle: Check = ({ survey }) =>
  guarded(survey).flatMap(({ workload, pods, pdbs }): Finding[] => {
    const views = pdbs.map(({ view }) => view);
    const pod = pods.find(
      ({ labels }) =>
        views.filter(({ selector }) => selector !== null && selects(selector, labels)).length > 1,
    );
    if (pod === undefined) return [];
    const names = views
      .filter(({ selector }) => selector !== null && selects(selector, pod.labels))
      .map(({ name }) => name);
    return [
      {
        id: 'budgets-several',
        severity: 'warning',
        object: nameOf(workload),
        what: `${names.length} PodDisruptionBudgets select its pods: ${names.join(', ')}`,
        why: 'the API server refuses each eviction of a pod that has more than one',
        remedy: `keep one: kubectl -n ${workload.metadata.namespace ?? ''} delete poddisruptionbudget/${names.at(-1) ?? ''}`,
      },
    ];
  });
