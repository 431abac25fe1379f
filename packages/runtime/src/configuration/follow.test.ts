import { afterEach, describe, expect, it } from '@jest/globals';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createLogger } from '../logging/logger.ts';
import { Metrics } from '../metrics/registry.ts';
import { type MountedFiles, mountFiles } from '../testing/directory.ts';
import { type ShopSettings, shopSettings } from '../testing/settings.ts';
import { until } from '../testing/until.ts';
import { loadConfiguration } from './configuration.ts';
import { type Following, followConfiguration } from './follow.ts';

let mounted: MountedFiles;
let following: Following<ShopSettings>;

afterEach(async () => {
  await following.live.stop();
  await mounted.remove();
});

describe('a followed configuration', () => {
  it('keeps the old values for an invalid file, which is logged, counted and told; and takes the next', async () => {
    mounted = await mountFiles({ 'spotalis.yaml': '' });
    const configuration = await loadConfiguration(shopSettings, {
      file: `${mounted.path}/spotalis.yaml`,
      environment: {},
    });
    const lines: string[] = [];
    const stream = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    const logger = createLogger({ service: 'test', level: 'info', format: 'json', stream });
    const metrics = new Metrics();
    const told: string[] = [];
    following = followConfiguration({
      configuration,
      metrics,
      logger,
      refused: ({ message }) => told.push(message),
      pollMs: 20,
    });
    const { live } = following;
    await live.start();

    await mounted.swap({ 'spotalis.yaml': `dryRun: maybe\nlogging: { level: debug }` });
    await until('the refusal', () => told.length > 0);
    expect(told[0]).toContain('dryRun: "maybe" is not allowed');
    expect(live.current).toMatchObject({ dryRun: false, logging: { level: 'info' } });
    expect(lines.join('')).toContain('the old one stays in force');
    const page = await text(metrics.page());
    expect(page).toContain('spotalis_configuration_reloads_total{result="rejected"} 1');

    await mounted.swap({ 'spotalis.yaml': `dryRun: true\nmetrics: { port: 1 }` });
    await until('the change', () => live.current.dryRun);
    expect(live.current.metrics.port).toBe(8080);
    await until('the restart to be asked for', () => lines.join('').includes('metrics.port'));
    expect(told).toHaveLength(1);

    await mounted.swap({
      'spotalis.yaml': 'dryRun: false\nmetrics: { port: 2 }\nshop: { kind: mall, workers: 1 }',
    });
    await until('what a rule refuses', () => told.length > 1 || !live.current.dryRun);
    expect(told[1]).toBe('shop.workers: has to be at least 5 in a mall');
    expect(live.current).toMatchObject({ dryRun: true, shop: { workers: 5 } });
    expect(await text(metrics.page())).toContain('{result="rejected"} 2');
    expect(lines.filter((line) => line.includes('metrics.port'))).toHaveLength(1);
  });
});
