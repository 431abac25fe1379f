/** @needs redis */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { portIsFree } from '../process/ports.ts';
import { ask } from './client.ts';
import { type RedisServers, startRedis } from './servers.ts';

const started: RedisServers[] = [];
const start: typeof startRedis = async (options) => {
  const redis = await startRedis(options);
  started.push(redis);
  return redis;
};
afterAll(() => Promise.all(started.map((redis) => redis.stop())));

describe('a standalone redis', () => {
  it('answers, loses its data in a crash, and comes back on the same port', async () => {
    const redis = await start();
    const node = redis.node(0);
    expect(await node.command('SET', 'key', 'value')).toBe('OK');
    await redis.kill();
    await expect(node.command('PING')).rejects.toThrow('ECONNREFUSED');
    await redis.restart();
    expect(await node.command('GET', 'key')).toBeNull();
  });

  it('hangs while frozen and answers once thawed', async () => {
    const redis = await start();
    redis.freeze();
    await expect(ask(redis.node(0), ['PING'], 200)).rejects.toThrow('no answer to PING in 200 ms');
    redis.thaw();
    expect(await redis.node(0).command('PING')).toBe('PONG');
  });

  it('leaves no process, port or file behind', async () => {
    const redis = await start();
    const { pid = 0, port, logFile } = redis.node(0);
    expect(existsSync(logFile)).toBe(true);
    await redis.stop();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(await portIsFree(port)).toBe(true);
    expect(existsSync(dirname(logFile))).toBe(false);
  });

  it('speaks TLS only, and holds ACL users to their keys', async () => {
    const acl = ['user default off', 'user webhook on >secret ~spotalis:* +@all'];
    const redis = await start({ tls: true, acl });
    const { host, port } = redis;
    const credentials = { username: 'webhook', password: 'secret' };
    expect(redis.url).toBe(`rediss://127.0.0.1:${port}`);
    const address = { host, port, ca: redis.ca, credentials };
    expect(await ask(address, ['SET', 'spotalis:a', '1'])).toBe('OK');
    await expect(ask(address, ['SET', 'other', '1'])).rejects.toThrow('NOPERM');
    await expect(ask({ host, port, ca: redis.ca }, ['PING'])).rejects.toThrow('NOAUTH');
    await expect(ask({ host, port }, ['PING'])).rejects.toThrow(/closed|ECONNRESET/);
  });
});

describe('redis behind Sentinel', () => {
  it('fails over to the replica', async () => {
    const redis = await start({ mode: 'sentinel' });
    expect(await redis.primary()).toBe(0);
    expect(await redis.failOver()).toBe(1);
    expect(await redis.node(1).command('SET', 'key', 'value')).toBe('OK');
  }, 60_000);
});

describe('a Redis Cluster', () => {
  it('serves each slot from one of three nodes', async () => {
    const redis = await start({ mode: 'cluster' });
    const slots = JSON.stringify(await redis.node(2).command('CLUSTER', 'SLOTS'));
    for (const { port } of redis.nodes) expect(slots).toContain(`"127.0.0.1",${port},`);
    await expect(redis.node(0).command('SET', 'a', '1')).rejects.toThrow(/^MOVED/);
  }, 60_000);
});
