import { afterEach, describe, expect, it } from '@jest/globals';
import { resource } from '../resource.ts';
import { type Answer, json, ScriptedServer } from '../testing/scripted-server.ts';

const pods = resource('v1', 'pods', 'Pod');
const deployments = resource('apps/v1', 'deployments', 'Deployment');
let server: ScriptedServer;

async function serve(script: Answer | readonly Answer[] = json({})): Promise<ScriptedServer> {
  server = await ScriptedServer.start(script);
  return server;
}

afterEach(() => server.close());

const page = (name: string, token?: string): Answer =>
  json({ metadata: { resourceVersion: '7', continue: token }, items: [{ metadata: { name } }] });

describe('ApiClient', () => {
  it('reads one object, or a subresource, or only its metadata', async () => {
    const client = (await serve()).client();
    await client.get(deployments, { namespace: 'a', name: 'b', subresource: 'scale' });
    await client.get(pods, { namespace: 'a', name: 'b' }, { view: 'metadata' });
    expect(server.requests[0]?.url.pathname).toBe('/apis/apps/v1/namespaces/a/deployments/b/scale');
    expect(server.requests[0]?.headers.accept).toBe('application/json');
    expect(server.requests[1]?.headers.accept).toMatch(/^application\/json;as=PartialObjectMetadata;g=meta/);
  });

  it('refuses an empty name, which would mean the collection', async () => {
    const client = (await serve()).client();
    await expect(client.delete(pods, { namespace: 'a', name: '' })).rejects.toThrow(/empty name for a Pod/);
    expect(server.requests).toHaveLength(0);
  });

  it('escapes what stands in paths and queries', async () => {
    const client = (await serve(json({ items: [], metadata: {} }))).client();
    await client.list(pods, { namespace: 'a/../b', labelSelector: 'app in (x,y)' });
    expect(server.requests[0]?.url.pathname).toBe('/api/v1/namespaces/a%2F..%2Fb/pods');
    expect(server.requests[0]?.url.searchParams.get('labelSelector')).toBe('app in (x,y)');
  });

  it('walks a list page by page, with the version in the first request only', async () => {
    const client = (await serve([page('a', 'next'), page('b', 'last'), page('c')])).client();
    const names: string[] = [];
    for await (const { items } of client.pages(pods, { limit: 1, resourceVersion: '5' })) {
      names.push(...items.map((item) => item.metadata.name));
    }
    expect(names).toEqual(['a', 'b', 'c']);
    const query = server.requests.map(({ url }) => url.searchParams);
    expect(query.map((one) => one.get('continue'))).toEqual([null, 'next', 'last']);
    expect(query.map((one) => one.get('resourceVersion'))).toEqual(['5', null, null]);
    expect(query.map((one) => one.get('limit'))).toEqual(['1', '1', '1']);
  });

  it('writes by JSON patch, merge patch and apply, each with its content type', async () => {
    const client = (await serve()).client();
    const place = { namespace: 'a', name: 'b' };
    await client.jsonPatch(pods, place, [{ op: 'remove', path: '/metadata/labels/x' }], { dryRun: true });
    await client.mergePatch(pods, place, { metadata: { labels: { x: null } } });
    await client.apply(pods, place, { metadata: { name: 'b' } }, { fieldManager: 'me', force: true });
    expect(server.requests.map(({ method, headers }) => `${method} ${headers['content-type']}`)).toEqual([
      'PATCH application/json-patch+json',
      'PATCH application/merge-patch+json',
      'PATCH application/apply-patch+yaml',
    ]);
    expect(server.requests[0]?.url.searchParams.get('dryRun')).toBe('All');
    expect(server.requests[2]?.url.search).toBe('?fieldManager=me&force=true');
    expect(JSON.parse(server.requests[2]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'b' },
    });
  });

  it('deletes with preconditions', async () => {
    const client = (await serve()).client();
    await client.delete(pods, { namespace: 'a', name: 'b' }, { uid: 'u', resourceVersion: '9' });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({
      kind: 'DeleteOptions',
      preconditions: { uid: 'u', resourceVersion: '9' },
    });
  });
});
