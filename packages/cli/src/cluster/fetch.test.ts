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

/** A cluster in which someone may read one namespace, or nothing. */
function client(may: 'one namespace' | 'nothing') {
  const asked: string[] = [];
  return {
    asked,
    async *pages({ plural }: Resource, { namespace }: ListQuery) {
      asked.push(`${plural} in ${namespace ?? 'all'}`);
      if (may === 'nothing' || namespace === undefined) throw refused(plural);
      yield { items: plural === 'deployments' ? [object('web', namespace)] : [], resourceVersion: '1' };
      yield { items: plural === 'deployments' ? [object('db', namespace)] : [], resourceVersion: '1' };
    },
    get: ({ plural }: Resource, { name }: { name: string }) =>
      may === 'nothing' ? Promise.reject(refused(plural)) : Promise.resolve(object(name)),
  };
}

function fetchAs(may: 'one namespace' | 'nothing') {
  if (!reading.ok) throw new Error('unreadable');
  const options = { namespace: 'shop', nodeLabels: reading.labels, signal: new AbortController().signal };
  return fetchObjects(client(may) as never, options);
}

describe('what is read of a cluster', () => {
  it('is made do with where only one namespace may be read, and that is said', async () => {
    const { workloads, namespaces, notes } = await fetchAs('one namespace');
    expect(workloads.map(({ metadata }) => metadata.name)).toEqual(['web', 'db']);
    expect(namespaces.map(({ metadata }) => metadata.name)).toEqual(['shop']);
    expect(notes).toContain('nodes may not be read: types are what admission wrote');
    expect(notes).toContain('pods may be read in namespace shop only: nodes look emptier than they are');
  });

  it('is refused in one sentence with the rights that are missing', async () => {
    await expect(fetchAs('nothing')).rejects.toMatchObject({
      code: 'FORBIDDEN',
      hint: expect.stringContaining('list deployments'),
      exitCode: 1,
    });
  });
});
