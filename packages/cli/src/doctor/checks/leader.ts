import { span } from '../../output/output.ts';
import type { Check, Finding } from '../finding.ts';
import type { FindingId } from '../known.ts';

/** This machine's clock is not the cluster's. */
const CLOCK_SKEW_MS = 10_000;

export const hasLeader: Check = ({ installation: { lease }, survey, nowMs }) => {
  if (lease.kind === 'unknown' || !survey.settings.values.controller.leaderElection.enabled) return [];
  const finding = (id: FindingId, what: string): readonly Finding[] => [
    {
      id,
      severity: 'error',
      object: `Lease ${lease.name}`,
      what,
      why: 'nothing is repaired, and no lack of capacity is bridged; admission goes on',
      remedy: 'docs/runbooks.md#spotalisnoleader',
    },
  ];
  if (lease.kind === 'missing')
    return finding('lease-missing', 'it is not there, and controllers may not make it');
  if (lease.holder === '') return finding('leader-missing', 'no controller holds it');
  const agoMs = nowMs - lease.renewedAtMs;
  if (agoMs <= 2 * lease.durationMs + CLOCK_SKEW_MS) return [];
  return finding(
    'lease-stale',
    `${lease.holder} holds it and renewed it ${span(agoMs)} ago; nobody took over`,
  );
};
