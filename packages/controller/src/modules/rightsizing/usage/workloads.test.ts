import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { PodOwner } from './provider.ts';
import { type LiveWorkload, PodWorkloads, type WorkloadName } from './workloads.ts';

const numRuns = Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000);
const deployment = (name: string): WorkloadName => ({ kind: 'Deployment', name });
const web = deployment('web');
const backend = deployment('web-backend');
const db: WorkloadName = { kind: 'StatefulSet', name: 'db' };
const agent: WorkloadName = { kind: 'DaemonSet', name: 'agent' };
const all = [web, backend, db, agent];
const unknown: LiveWorkload = () => undefined;
const owned = (owners: readonly PodOwner[], live = unknown) => new PodWorkloads(all, owners, live);

describe('the workload of a pod', () => {
  it.each([
    ['web-7d9f8c6b5d-x2k4p', web],
    ['web-backend-7d9f8c6b5d-x2k4p', backend],
    // The alphabet of hashes keeps this one out of `web`: `backend` has vowels.
    ['web-backend-x2k4p', null],
    ['web-7d9f8c6b5d-x1k3p', null],
    ['web-x2k4p', null],
    ['db-0', db],
    ['db-12', db],
    ['db-x', null],
    ['agent-x2k4p', agent],
    ['other-7d9f8c6b5d-x2k4p', null],
    ['', null],
  ])('follows from the name %s', (pod, expected) => {
    expect(owned([]).of(pod)).toEqual(expected);
  });

  it('is the one that the controller knows, even if that is none', () => {
    const owners = [{ pod: 'db-0', kind: 'StatefulSet', name: 'db' }];
    expect(owned(owners, () => web).of('db-0')).toEqual(web);
    expect(owned(owners, () => null).of('db-0')).toBeNull();
  });

  it('is that of the owner that the source knows, and the name does not count then', () => {
    const owners = [
      { pod: 'odd', kind: 'ReplicaSet', name: 'web-7d9f8c6b5d' },
      { pod: 'db-0', kind: 'Job', name: 'db-0' },
      { pod: 'agent-x2k4p', kind: 'DaemonSet', name: 'agent' },
    ];
    expect(owned(owners).of('odd')).toEqual(web);
    expect(owned(owners).of('db-0')).toBeNull();
    expect(owned(owners).of('agent-x2k4p')).toEqual(agent);
  });

  it('is none where two owners are known', () => {
    const owners = [
      { pod: 'db-0', kind: 'StatefulSet', name: 'db' },
      { pod: 'db-0', kind: 'ReplicaSet', name: 'web-7d9f8c6b5d' },
      { pod: 'db-0', kind: 'StatefulSet', name: 'db' },
    ];
    expect(owned(owners).of('db-0')).toBeNull();
  });

  it('is none where the name fits two', () => {
    const twice = [web, { kind: 'DaemonSet', name: 'web-7d9f8' } as const];
    expect(new PodWorkloads(twice, [], unknown).of('web-7d9f8-x2k4p')).toBeNull();
  });

  it('is found by the name that Kubernetes gives, and never another one', () => {
    const safe = (minLength: number, maxLength: number) =>
      fc.stringMatching(new RegExp(`^[bcdfghjklmnpqrstvwxz2456789]{${minLength},${maxLength}}$`));
    const base = fc.constantFrom('web', 'web-backend', 'api', 'a');
    fc.assert(
      fc.property(base, safe(1, 10), safe(5, 5), (name, hash, suffix) => {
        const found = new PodWorkloads([web, backend, deployment('api'), deployment('a')], [], unknown);
        expect(found.of(`${name}-${hash}-${suffix}`)).toEqual(deployment(name));
      }),
      { numRuns },
    );
  });
});
