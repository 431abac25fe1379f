import { describe, expect, it } from '@jest/globals';
import { ApiError } from '@spotalis/kube';
import { readSettings } from './configuration.ts';

const map = (namespace: string, text: string) => ({
  metadata: { name: 'spotalis-controller', namespace, uid: namespace, resourceVersion: '1' },
  data: { 'spotalis.yaml': text },
});
const cluster = (...items: readonly object[]) => ({ list: () => Promise.resolve({ items }) }) as never;
const redis = 'redis: { url: redis://redis:6379 }';
/** Not cron, so that the services refuse it. */
const fourFields = 'rebalance: { schedule: "0 22 * *", duration: 4h }';

describe('the configuration of the services', () => {
  it('is that of the ConfigMap of the installation', async () => {
    const text = `${redis}\nrebalance: { cooldown: 45s, schedule: 0 22 * * *, duration: 4h }`;
    const settings = await readSettings(cluster(map('spotalis', text)), undefined);
    const { rebalance, origin, home, notes } = settings;
    expect(rebalance).toMatchObject({ cooldownMs: 45_000, window: { durationMs: 4 * 3_600_000 } });
    expect(origin).toBe('ConfigMap spotalis/spotalis-controller');
    expect(home).toBe('spotalis');
    expect(notes).toEqual([]);
  });

  it('is told to be a guess where there is none, where it may not be read, and where it is not understood', async () => {
    const body = { message: 'configmaps is forbidden', reason: 'Forbidden' };
    const forbidden = {
      list: () => Promise.reject(new ApiError({ status: 403, body, request: 'GET' })),
    } as never;
    for (const [client, why] of [
      [cluster(), /no ConfigMap/],
      [forbidden, /configmaps is forbidden/],
      [cluster(map('spotalis', `${redis}\nfromTheFuture: 1`)), /fromTheFuture/],
      [cluster(map('spotalis', `${redis}\n${fourFields}`)), /"0 22 \* \*" is not/],
    ] as const) {
      const { notes, rebalance } = await readSettings(client, undefined);
      expect(notes).toEqual([expect.stringMatching(why)]);
      expect(notes[0]).toContain('--config');
      expect(rebalance.cooldownMs).toBe(10_000);
    }
  });

  it('is one of several, which is said', async () => {
    const { notes } = await readSettings(cluster(map('one', redis), map('two', redis)), undefined);
    expect(notes).toEqual(['there are 2 installations; ConfigMap one/spotalis-controller was read']);
  });

  it('that is named and cannot be read is an error', async () => {
    await expect(readSettings(cluster(), '/nowhere.yaml')).rejects.toThrow(/nowhere/);
  });
});
