import { describe, expect, it } from '@jest/globals';
import { prunePod } from '@spotalis/core';
import { aManagedCluster, rawPod } from '../../testing/objects.ts';
import { likeSiblings } from './siblings.ts';

/** As they come off the wire: nothing of one is the same object as anything of another. */
function arrived(name: string, change: { readonly owner?: string; readonly app?: string } = {}) {
  const { owner = 'web-1', app = 'web' } = change;
  const raw = rawPod(name, { owner, node: 'spot-1' });
  return prunePod({ ...raw, metadata: { ...raw.metadata, labels: { app } } })!;
}

describe('the pods of one owner', () => {
  it('refer to one copy of what they have in common', () => {
    const cluster = aManagedCluster();
    const first = arrived('a');
    cluster.pods.upsert(first, true);
    const second = likeSiblings(cluster)(arrived('b'));
    expect(second).toEqual({ ...arrived('b'), metadata: second.metadata });
    expect(second.controller).toBe(first.controller);
    expect(second.labels).toBe(first.labels);
    expect(second.requests).toBe(first.requests);
  });

  it('keep what they do not have in common', () => {
    const cluster = aManagedCluster();
    cluster.pods.upsert(arrived('a'), true);
    const like = likeSiblings(cluster);
    expect(like(arrived('b', { app: 'canary' })).labels).toEqual({ app: 'canary' });
    expect(like(arrived('c', { owner: 'web-2' })).controller?.uid).toBe('web-2-uid');
  });
});
