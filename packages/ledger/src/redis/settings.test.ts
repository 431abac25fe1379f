import { describe, expect, it } from '@jest/globals';
import type { RedisValues } from '@spotalis/core';
import { isEmbedded, redisSettings } from './settings.ts';

const anonymous = { username: undefined, passwordFile: undefined };
const plain: RedisValues = {
  ...anonymous,
  url: undefined,
  sentinel: { ...anonymous, name: 'mymaster', nodes: [], tls: false },
  cluster: { nodes: [] },
  tls: { enabled: false, caFile: undefined },
  keyPrefix: 'spotalis',
  commandTimeout: 200,
};

describe('the settings of a described Redis', () => {
  it('are those of one server', () => {
    const described = { ...plain, url: 'redis://redis:6379/3', username: 'u', passwordFile: '/p' };
    expect(redisSettings(described)).toEqual({
      url: 'redis://redis:6379/3',
      username: 'u',
      passwordFile: '/p',
      keyPrefix: 'spotalis',
      commandTimeoutMs: 200,
    });
  });

  it('are those of Sentinels, IPv6 ones too', () => {
    const nodes = ['s-0:26379', '[fd00::1]:26380'];
    expect(
      redisSettings({ ...plain, sentinel: { ...anonymous, name: 'm', nodes, tls: false } }),
    ).toMatchObject({
      sentinel: {
        name: 'm',
        nodes: [
          { host: 's-0', port: 26379 },
          { host: 'fd00::1', port: 26380 },
        ],
      },
    });
  });

  it('are those of Sentinels with a user and TLS of their own', () => {
    const own = { tls: true, username: 'asker', passwordFile: '/p' };
    const described = redisSettings({ ...plain, sentinel: { name: 'm', nodes: ['s-0:26379'], ...own } });
    expect(described).toMatchObject({ sentinel: { tls: {}, username: 'asker', passwordFile: '/p' } });
    expect(described).not.toHaveProperty('tls');
    expect(described).not.toHaveProperty('username');
  });

  it('are those of a Cluster', () => {
    const described = { ...plain, cluster: { nodes: ['a:1', 'b:2'] } };
    expect(redisSettings(described)).toMatchObject({
      cluster: {
        nodes: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
      },
    });
  });

  it('speak TLS when asked to, and when the URL says so', () => {
    expect(
      redisSettings({ ...plain, url: 'redis://r:1', tls: { enabled: true, caFile: undefined } }),
    ).toMatchObject({
      tls: {},
    });
    expect(redisSettings({ ...plain, url: 'rediss://r:1' })).toMatchObject({ tls: {} });
    expect(redisSettings({ ...plain, url: 'redis://r:1' })).not.toHaveProperty('tls');
  });

  it('name the CA file that cannot be read', () => {
    const described = { ...plain, url: 'rediss://r:1', tls: { enabled: true, caFile: '/nowhere/ca.crt' } };
    expect(() => redisSettings(described)).toThrow(/redis\.tls\.caFile: \/nowhere\/ca\.crt cannot be read/);
  });

  it('tell the embedded ledger from the others', () => {
    expect(isEmbedded({ url: 'memory://' })).toBe(true);
    expect(isEmbedded({ url: 'redis://r:1' })).toBe(false);
    expect(isEmbedded({ url: undefined })).toBe(false);
  });
});
