import { bulletinPlace } from '@spotalis/core';
import { span } from '../../output/output.ts';
import type { Check, Finding } from '../finding.ts';
import { nameOf } from './object.ts';

/** As long as the alert waits. */
const LASTING_MS = 3_600_000;

/** Bridged, but not as it was asked for. */
export const haveSpot: Check = ({ survey, nowMs }) =>
  survey.workloads.flatMap((workload): Finding[] => {
    const drought = survey.droughtOf(workload);
    if (drought.kind !== 'told' || drought.report === null) return [];
    const lastsMs = nowMs - drought.report.sinceMs;
    if (lastsMs < LASTING_MS || !survey.managedOf(workload).managed) return [];
    return [
      {
        id: 'drought-lasting',
        severity: 'warning',
        object: nameOf(workload),
        what: `no spot capacity for ${span(lastsMs)}, though it is tried again and again`,
        why: 'its pods run on on-demand meanwhile, and cost what that costs',
        remedy: 'docs/runbooks.md#spotalisdroughtlasting',
      },
    ];
  });

/** What the controllers say of droughts can be heard. */
export const tellsOfDroughts: Check = ({ survey, installation }) => {
  const { isMissing, unreadable } = survey.droughts;
  const namespace = installation.namespace ?? '';
  const { distribution } = survey.settings.values.modules;
  const isShared = installation.configurations.every(
    ({ reading }) => !reading.ok || !(reading.values.redis.url?.startsWith('memory:') ?? false),
  );
  const why = 'status, explain and plan know a drought by its substitutes only, and not what comes next';
  if (isMissing && distribution.enabled && isShared && installation.lease.kind === 'found') {
    return [
      {
        id: 'bulletin-missing',
        severity: 'warning',
        object: `ConfigMap ${namespace}/${bulletinPlace.name}`,
        what: 'it is not there, and controllers may not make it',
        why,
        remedy: 'apply the chart anew (helm upgrade), which brings it empty',
      },
    ];
  }
  return unreadable.map(({ object, why: problem }) => ({
    id: 'bulletin-unreadable',
    severity: 'warning',
    object,
    what: `it is not understood: ${problem}`,
    why,
    remedy: 'use the kubectl-spotalis of the version that is installed',
  }));
};
