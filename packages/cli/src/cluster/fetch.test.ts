import { describe, expect, it } from '@jest/globals';
import { readNodeLabels } from '@spotalis/core';
import { ApiError, type ListQuery, type Resource } from '@spotalis/kube';
import { fetchObjects, type FetchOptions } from './fetch.ts';

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

async function fetchAs(may: Rights, listed: readonly string[] = [], more: Partial<FetchOptions> = {}) {
  if (!reading.ok) throw new Error('unreadable');
  const { signal } = new AbortController();
  const usual = { namespace: 'shop', listed, home: undefined, onlyProven: false };
  const options = { ...usual, nodeLabels: reading.labels, signal, ...more };
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

  it('is the pods of the installation, too, where any namespace is listed', async () => {
    const { asked, notes } = await fetchAs('one namespace', ['shop'], { home: 'spotalis', onlyProven: true });
    expect(asked.filter((each) => each.startsWith('pods'))).toEqual(['pods in shop', 'pods in spotalis']);
    expect(asked.filter((each) => each.startsWith('deployments'))).toEqual(['deployments in shop']);
    expect(notes[0]).toBe(
      'pods are read in shop, spotalis only, by scope.namespaces: no room counts but what a placeholder holds',
    );
    expect(notes.join()).not.toContain('placeholders are not seen');
  });

  it('is without placeholders where nobody knows the namespace of the installation, and that is said', async () => {
    const { notes } = await fetchAs('one namespace', ['shop'], { onlyProven: true });
    expect(notes).toContain(
      'placeholders are not seen, because a configuration file does not tell the namespace of the installation',
    );
  });

  it('is refused in one sentence with the rights that are missing', async () => {
    await expect(fetchAs('nothing')).rejects.toMatchObject({
      code: 'FORBIDDEN',
      hint: expect.stringContaining('list deployments'),
      exitCode: 1,
    });
  });
});
