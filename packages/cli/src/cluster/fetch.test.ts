import { describe, expect, it } from '@jest/globals';
import { readNodeLabels } from '@spotalis/core';
import { ApiError, type ListQuery, type Resource } from '@spotalis/kube';
import { fetchObjects } from './fetch.ts';

const reading = readNodeLabels({ spot: 'type=spot', onDemand: 'type=on-demand' });
const refused = (plural: string) =>
  new ApiError({ status: 403, body: { message: `${plural} is forbidden` }, request: 'GET' });
const object = (name: string, namespace?: string) => ({
  metadata: { name, uid: name, resourceVersion: '1', ...(namespace !== undefined && { namespace }) },
});

type Rights = 'one namespace' | 'nothing' | 'all but shop';

/** A cluster in which someone may read one namespace, or nothing. */
function client(may: Rights) {
  const asked: string[] = [];
  return {
    asked,
    async *pages({ plural }: Resource, { namespace }: ListQuery) {
      asked.push(`${plural} in ${namespace ?? 'all'}`);
      const isRefused = may === 'all but shop' ? namespace === 'shop' : namespace === undefined;
      if (may === 'nothing' || isRefused) throw refused(plural);
      yield { items: plural === 'deployments' ? [object('web', namespace)] : [], resourceVersion: '1' };
      yield { items: plural === 'deployments' ? [object('db', namespace)] : [], resourceVersion: '1' };
    },
    get: ({ plural }: Resource, { name }: { name: string }) =>
      may === 'nothing' ? Promise.reject(refused(plural)) : Promise.resolve(object(name)),
  };
}

async function fetchAs(may: Rights, listed: readonly string[] = []) {
  if (!reading.ok) throw new Error('unreadable');
  const { signal } = new AbortController();
  const options = { namespace: 'shop', listed, nodeLabels: reading.labels, signal };
  const cluster = client(may);
  return { ...(await fetchObjects(cluster as never, options)), asked: cluster.asked };
}

describe('what is read of a cluster', () => {
  it('is made do with where only one namespace may be read, and that is said', async () => {
    const { workloads, namespaces, notes } = await fetchAs('one namespace');
    expect(workloads.map(({ metadata }) => metadata.name)).toEqual(['web', 'db']);
    expect(namespaces.map(({ metadata }) => metadata.name)).toEqual(['shop']);
    expect(notes).toContain('nodes may not be read: types are what admission wrote');
    expect(notes).toContain('pods may be read in namespace shop only: nodes look emptier than they are');
  });

  it('is what is in the listed namespaces and the one that was named, where any is listed', async () => {
    const { workloads, asked, notes } = await fetchAs('all but shop', ['bank', 'till']);
    expect(workloads.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      'bank/web',
      'bank/db',
      'till/web',
      'till/db',
    ]);
    expect(asked.filter((each) => each.startsWith('pods'))).toEqual([
      'pods in bank',
      'pods in till',
      'pods in shop',
    ]);
    expect(notes).toContain('pods may not be read in namespace shop');
    expect(notes[0]).toBe(
      'pods are read in bank, till, shop only, by scope.namespaces: nodes look emptier than they are',
    );
    await expect(fetchAs('nothing', ['bank'])).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('is refused in one sentence with the rights that are missing', async () => {
    await expect(fetchAs('nothing')).rejects.toMatchObject({
      code: 'FORBIDDEN',
      hint: expect.stringContaining('list deployments'),
      exitCode: 1,
    });
  });
});
