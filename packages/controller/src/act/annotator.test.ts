import { describe, expect, it } from '@jest/globals';
import { ApiError, FenceClosedError } from '@spotalis/kube';
import { Annotator } from './annotator.ts';

const renumbering = (name: string) => ({
  pod: { name, uid: `${name}-uid`, resourceVersion: '7' },
  type: 'spot' as const,
  rank: 3,
  cost: -5,
});

function annotatorOf(refuse: (name: string) => Error | undefined = () => undefined) {
  const patches: { name: string; patch: unknown }[] = [];
  const pauses: number[] = [];
  const fence = { open: true };
  const annotator = new Annotator({
    client: {
      mergePatch: (_of, { name }, patch) => {
        const error = refuse(name);
        if (error !== undefined) return Promise.reject(error);
        patches.push({ name, patch });
        return Promise.resolve(undefined as never);
      },
    },
    pause: (ms) => {
      pauses.push(ms);
      return Promise.resolve();
    },
  });
  /** All of them under one token, while the fence is open. */
  const write = (changes: Parameters<Annotator['write']>[1]) =>
    annotator.write('shop', changes, { tokenOf: () => 't1', mayWrite: () => fence.open });
  return { write, patches, pauses, fence };
}

const apiError = (status: number) => new ApiError({ status, body: {}, request: 'PATCH' });

describe('annotations on pods', () => {
  it('are written on the very pod that was looked at, with the token that the ledger knows it by', async () => {
    const { write, patches } = annotatorOf();
    const written = await write([renumbering('a')]);
    expect(written).toEqual({ written: 1, left: 0, refused: null });
    expect(patches).toEqual([
      {
        name: 'a',
        patch: {
          metadata: {
            uid: 'a-uid',
            resourceVersion: '7',
            annotations: {
              'spotalis.io/capacity-type': 'spot',
              'spotalis.io/reservation': 't1',
              'spotalis.io/rank': '3',
              'controller.kubernetes.io/pod-deletion-cost': '-5',
            },
          },
        },
      },
    ]);
  });

  it('are the type alone where neither rank nor cost is ours to say', async () => {
    const { write, patches } = annotatorOf();
    await write([{ ...renumbering('db-0'), rank: null, cost: null }]);
    expect(patches[0]?.patch).toMatchObject({
      metadata: { annotations: { 'spotalis.io/capacity-type': 'spot' } },
    });
    expect(JSON.stringify(patches)).not.toMatch(/rank|reservation|cost/);
  });

  it('are written slowly, and a few in one turn', async () => {
    const { write, patches, pauses } = annotatorOf();
    const many = Array.from({ length: 50 }, (_, index) => renumbering(`p${index}`));
    expect(await write(many)).toEqual({ written: 20, left: 30, refused: null });
    expect(patches).toHaveLength(20);
    expect(pauses).toHaveLength(20);
  });

  it.each([404, 409])('are left for another look when the answer is %i', async (status) => {
    const { write } = annotatorOf((name) => (name === 'a' ? apiError(status) : undefined));
    const both = [renumbering('a'), renumbering('b')];
    expect(await write(both)).toEqual({ written: 1, left: 1, refused: null });
  });

  it.each([400, 403, 422])(
    'are written on the others when one is refused with %i, which is said',
    async (status) => {
      const { write, patches } = annotatorOf((name) => (name === 'a' ? apiError(status) : undefined));
      const answer = await write([renumbering('a'), renumbering('b')]);
      expect(answer).toMatchObject({
        written: 1,
        left: 1,
        refused: { pod: 'a', message: expect.anything() },
      });
      expect(patches.map(({ name }) => name)).toEqual(['b']);
    },
  );

  it('end with the lease, and with an error that is told', async () => {
    const { write, patches, fence } = annotatorOf((name) => {
      if (name === 'b') fence.open = false;
      return undefined;
    });
    const three = [renumbering('a'), renumbering('b'), renumbering('c')];
    expect(await write(three)).toEqual({ written: 2, left: 1, refused: null });
    expect(await write(three)).toEqual({ written: 0, left: 3, refused: null });
    expect(patches.map(({ name }) => name)).toEqual(['a', 'b']);
    const closed = annotatorOf(() => new FenceClosedError('PATCH'));
    expect(await closed.write([renumbering('a')])).toEqual({ written: 0, left: 1, refused: null });
    const broken = annotatorOf(() => apiError(503));
    await expect(broken.write([renumbering('a')])).rejects.toThrow('503');
  });
});
