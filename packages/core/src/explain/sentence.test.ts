import { describe, expect, it } from '@jest/globals';
import { gateReasons } from '../admission/gate.ts';
import { unmanagedReasons } from '../policy/managed.ts';
import {
  type AdmissionTrace,
  reasonByCount,
  type SteeredFacts,
  steeredReasons,
  unsteeredReasons,
  untouchedReasons,
} from './admission.ts';
import { explainAdmission } from './sentence.ts';

const facts: SteeredFacts = {
  namespace: 'shop',
  workload: 'deployment/web',
  type: 'spot',
  numbers: { spotPercentage: 70, minOnDemand: 1 },
  counts: { spot: 6, onDemand: 3 },
  place: { kind: 'rank', rank: 6 },
};
const passed = { namespace: 'shop', workload: null };

describe('the sentence on an admission', () => {
  it('says what was counted and what should be', () => {
    expect(explainAdmission({ action: 'steered', reason: 'BelowShare', facts })).toBe(
      'Sent to spot: 6 of 9 pods were on spot and 7 of 10 should be (policy: 70 % spot, at least 1 on-demand).',
    );
    const full: SteeredFacts = { ...facts, type: 'on-demand', counts: { spot: 7, onDemand: 2 } };
    expect(explainAdmission({ action: 'steered', reason: 'ShareFull', facts: full })).toBe(
      'Sent to on-demand: 7 of 9 pods were on spot and 7 of 10 should be (policy: 70 % spot, at least 1 on-demand).',
    );
    const first: SteeredFacts = { ...facts, type: 'on-demand', counts: { spot: 0, onDemand: 0 } };
    expect(explainAdmission({ action: 'steered', reason: 'Floor', facts: first })).toBe(
      'Sent to on-demand: 0 on-demand pods were there and the floor is 1 (policy: 70 % spot, at least 1 on-demand).',
    );
  });

  it('names the ordinal of a StatefulSet', () => {
    const ordinal: SteeredFacts = { ...facts, counts: null, place: { kind: 'ordinal', ordinal: 4 } };
    expect(explainAdmission({ action: 'steered', reason: 'Ordinal', facts: ordinal })).toContain(
      'ordinal 4 is a spot place',
    );
  });

  it('says why a pod was left alone', () => {
    const trace: AdmissionTrace = { action: 'untouched', reason: 'WorkloadNotLabelled', facts: passed };
    expect(explainAdmission(trace)).toBe(
      'Left alone: its workload does not carry the label spotalis.io/enabled: "true".',
    );
  });

  it('exists for every reason, each with its own words', () => {
    const traces: AdmissionTrace[] = [
      ...[...gateReasons, ...unmanagedReasons, ...untouchedReasons].map(
        (reason) => ({ action: 'untouched', reason, facts: passed }) as const,
      ),
      ...unsteeredReasons.map((reason) => ({ action: 'unsteered', reason, facts: passed }) as const),
      ...steeredReasons
        .filter((reason) => reason !== 'ShareFull')
        .map((reason) => ({ action: 'steered', reason, facts }) as const),
    ];
    const sentences = traces.map(explainAdmission);
    expect(new Set(sentences).size).toBe(traces.length);
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z][^\n]*\.$/);
  });
});

describe('a decision by count', () => {
  it('is for the share, for a full share, or for the floor', () => {
    expect(reasonByCount('spot', facts.counts ?? { onDemand: 0 }, facts.numbers)).toBe('BelowShare');
    expect(reasonByCount('on-demand', { onDemand: 1 }, facts.numbers)).toBe('ShareFull');
    expect(reasonByCount('on-demand', { onDemand: 0 }, facts.numbers)).toBe('Floor');
  });
});
