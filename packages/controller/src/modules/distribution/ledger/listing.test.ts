import { describe, expect, it } from '@jest/globals';
import type { ListQuery, Page, RawObject } from '@spotalis/kube';
import { aReplicaSet, rawPod } from '../../../testing/objects.ts';
import { listPods } from './listing.ts';

const mark = (token: string) => ({ token, type: 'spot', rank: 1 });

interface Answers {
  readonly pages: readonly (readonly RawObject[])[];
  readonly nodeTypes?: Readonly<Record<string, 'spot' | 'on-demand'>>;
}

async function list({ pages, nodeTypes = {} }: Answers) {
  const queries: ListQuery[] = [];
  const found = await listPods(
    {
      async *pages(query): AsyncGenerator<Page<RawObject>> {
        queries.push(query);
        for (const [index, items] of pages.entries()) {
          await Promise.resolve();
          yield { items, resourceVersion: String(100 + index) };
        }
      },
      nodeTypeOf: (key) => nodeTypes[key],
    },
    aReplicaSet(),
    new AbortController().signal,
  );
  return { found, queries };
}

describe('the list of a ReplicaSet', () => {
  it('is a quorum read of metadata, narrowed by the hash, without terminal pods', async () => {
    const { queries } = await list({ pages: [[]] });
    expect(queries).toEqual([
      {
        namespace: 'shop',
        view: 'metadata',
        labelSelector: 'pod-template-hash=web-1',
        fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed',
      },
    ]);
  });

  it('is one snapshot, at the version of its first page', async () => {
    const pages = [[rawPod('a', { mark: mark('t1') })], [rawPod('b', { mark: mark('t2') })]];
    const { found } = await list({ pages });
    expect(found.resourceVersion).toBe('100');
    expect(found.pods.map(({ token }) => token)).toEqual(['t1', 't2']);
  });

  it('leaves out what is terminating and what belongs to another owner with the same hash', async () => {
    const pages = [
      [
        rawPod('a', { mark: mark('t1') }),
        rawPod('b', { mark: mark('t2'), terminating: true }),
        rawPod('c', { mark: mark('t3'), owner: 'foreign' }),
      ],
    ];
    const { found } = await list({ pages });
    expect(found.pods.map(({ token }) => token)).toEqual(['t1']);
  });

  it('has pods without a mark as what their node is, and all others as of no type', async () => {
    const { found } = await list({
      pages: [[rawPod('a'), rawPod('b')]],
      nodeTypes: { 'shop/a': 'on-demand' },
    });
    expect(found.pods.map(({ token, type }) => [token, type])).toEqual([
      ['a-uid', 'on-demand'],
      ['b-uid', null],
    ]);
  });
});
