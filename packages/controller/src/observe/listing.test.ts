import { describe, expect, it } from '@jest/globals';
import type { ListQuery, Page, RawObject } from '@spotalis/kube';
import type { LedgerEntry } from '@spotalis/ledger';
import { aReplicaSet, rawPod } from '../testing/objects.ts';
import { listPods } from './listing.ts';

const revision = { workloadUid: 'web-uid', replicaSetUid: 'web-1-uid' };
const mark = (token: string) => ({ token, type: 'spot', rank: 1 });

interface Answers {
  readonly pages: readonly (readonly RawObject[])[];
  readonly nodeTypes?: Readonly<Record<string, 'spot' | 'on-demand'>>;
  readonly entries?: Readonly<Record<string, LedgerEntry>>;
}

async function list({ pages, nodeTypes = {}, entries = {} }: Answers) {
  const queries: ListQuery[] = [];
  const asked: string[][] = [];
  const found = await listPods(
    {
      async *pages(query): AsyncGenerator<Page<RawObject>> {
        queries.push(query);
        for (const [index, items] of pages.entries()) {
          await Promise.resolve();
          yield { items, resourceVersion: String(100 + index) };
        }
      },
      ledger: {
        lookup: (_revision, tokens) => {
          asked.push([...tokens]);
          return Promise.resolve(tokens.map((token) => entries[token]));
        },
      },
      nodeTypeOf: (key) => nodeTypes[key],
    },
    aReplicaSet(),
    revision,
    new AbortController().signal,
  );
  return { found, queries, asked };
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

  it('has pods without a mark as what their node is, else as the ledger has them, else not at all', async () => {
    const { found, asked } = await list({
      pages: [[rawPod('a'), rawPod('b'), rawPod('c')]],
      nodeTypes: { 'shop/a': 'on-demand' },
      entries: { 'b-uid': { token: 'b-uid', type: 'spot', substitute: false, state: 'pending' } },
    });
    expect(asked).toEqual([['b-uid', 'c-uid']]);
    expect(found.pods.map(({ token, type }) => [token, type])).toEqual([
      ['a-uid', 'on-demand'],
      ['b-uid', 'spot'],
    ]);
  });
});
