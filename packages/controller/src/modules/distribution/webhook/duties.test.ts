import { describe, expect, it } from '@jest/globals';
import { readPolicy } from '@spotalis/core';
import { Bypass } from './bypass.ts';
import { SharedDefaults } from './shared-defaults.ts';
import { aManagedCluster, aPod } from '../../../testing/objects.ts';
import { followAdmissions } from './duties.ts';

const FIRST_SIGN_MS = 30_000;

function following(annotations: Readonly<Record<string, string>> = {}) {
  const cluster = aManagedCluster();
  const bypass = new Bypass();
  const sharedDefaults = new SharedDefaults();
  const policy = readPolicy({ workload: annotations, namespace: {}, defaults: { spotPercentage: 70 } });
  let tries = 0;
  followAdmissions({ cluster, bypass, sharedDefaults, policyOf: () => policy }, () => void tries++);
  const admit = (name: string, numbers?: string): number => {
    const mark = { token: name, type: 'spot', ...(numbers !== undefined && { policy: numbers }) };
    const createdAt = new Date(FIRST_SIGN_MS + 1_000).toISOString();
    cluster.pods.upsert(aPod(name, { mark, createdAt }), false);
    return tries;
  };
  return { bypass, sharedDefaults, admit };
}

describe('pods that come through the webhook', () => {
  it('bring forward the trial of one that was passed by', () => {
    const { bypass, admit } = following();
    expect(admit('a')).toBe(0);
    for (let index = 0; index < 3; index++) bypass.arrived(false, 1_000);
    expect(admit('b')).toBe(1);
  });

  it('bring forward the trial of its defaults when they show the same ones', () => {
    const { sharedDefaults, admit } = following();
    expect(admit('a', '70/0')).toBe(0);
    sharedDefaults.arrived(false, 1_000, 1_000);
    expect(admit('b', '60/0')).toBe(0);
    expect(admit('c')).toBe(0);
    expect(admit('d', '70/0')).toBe(1);
  });

  it('say nothing about defaults where annotations set the numbers', () => {
    const { sharedDefaults, admit } = following({
      'spotalis.io/spot-percentage': '70',
      'spotalis.io/min-on-demand': '0',
    });
    sharedDefaults.arrived(false, 1_000, 1_000);
    expect(admit('a', '70/0')).toBe(0);
  });
});
