import { describe, expect, it } from '@jest/globals';
import { type ObservedClaim, type ObservedVolume, pruneClaim, pruneVolume, reachOf } from './volume.ts';

const terms = [{ matchExpressions: [{ key: 'zone', operator: 'In' as const, values: ['a'] }] }];

function stores() {
  const claims = new Map<string, ObservedClaim>();
  const volumes = new Map<string, ObservedVolume>();
  const claim = (name: string, volumeName?: string) => {
    const metadata = { name, namespace: 'shop', uid: `${name}-uid`, resourceVersion: '1' };
    claims.set(
      `shop/${name}`,
      pruneClaim({ metadata, spec: volumeName === undefined ? {} : { volumeName } }),
    );
  };
  claim('zonal', 'pv-zonal');
  claim('everywhere', 'pv-everywhere');
  claim('lost', 'pv-lost');
  claim('unbound');
  const volume = (name: string) => ({ name, uid: `${name}-uid`, resourceVersion: '1' });
  const nodeAffinity = { required: { nodeSelectorTerms: terms } };
  volumes.set('pv-zonal', pruneVolume({ metadata: volume('pv-zonal'), spec: { nodeAffinity } }));
  volumes.set('pv-everywhere', pruneVolume({ metadata: volume('pv-everywhere'), spec: {} }));
  return { claims, volumes };
}

describe('where the volumes of a pod can be reached from', () => {
  it.each([
    ['no claim', [], { kind: 'bound', affinities: [] }],
    ['a zonal volume', ['zonal'], { kind: 'bound', affinities: [terms] }],
    ['a volume that is reached from everywhere', ['everywhere'], { kind: 'bound', affinities: [] }],
    ['a claim that is not bound yet', ['unbound'], { kind: 'bound', affinities: [] }],
    ['a claim that nobody has seen', ['zonal', 'missing'], { kind: 'unknown' }],
    ['a volume that nobody has seen', ['lost'], { kind: 'unknown' }],
  ])('is known of %s', (_what, claims, reach) => {
    expect(reachOf('shop', claims, stores())).toEqual(reach);
  });
});
