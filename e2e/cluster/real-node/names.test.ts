import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ServiceNames, serveNames } from './names.ts';

describe('the names of Services', () => {
  const asked: string[] = [];
  const resolver = new Resolver();
  let names: ServiceNames;

  beforeAll(async () => {
    const find = (_kind: string, path: string) => {
      asked.push(path);
      const clusterIP = { 'shop/redis': '198.18.128.7', 'shop/all': 'None' }[path];
      return Promise.resolve(clusterIP && { apiVersion: 'v1', kind: 'Service', spec: { clusterIP } });
    };
    names = await serveNames('127.0.0.1', { find: find as never }, 0);
    resolver.setServers([`127.0.0.1:${names.port}`]);
  });
  afterAll(() => names.close());

  it('are answered with the address of the Service', async () => {
    expect(await resolver.resolve4('redis.shop.svc.cluster.local')).toEqual(['198.18.128.7']);
    expect(asked).toEqual(['shop/redis']);
  });

  it('exist without an address of version 6', async () => {
    await expect(resolver.resolve6('redis.shop.svc.cluster.local')).rejects.toMatchObject({
      code: 'ENODATA',
    });
  });

  it.each(['nobody.shop.svc.cluster.local', 'all.shop.svc.cluster.local', 'example.com'])(
    '%s is none of them',
    async (name) => {
      await expect(resolver.resolve4(name)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    },
  );
});
