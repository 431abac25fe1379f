import { afterEach, describe, expect, it } from '@jest/globals';
import { Writable } from 'node:stream';
import { createLogger } from '../logging/logger.ts';
import { Metrics } from '../metrics/registry.ts';
import { type MountedFiles, mountFiles } from '../testing/directory.ts';
import { until } from '../testing/until.ts';
import { loadConfiguration } from './configuration.ts';
import { type Following, followConfiguration } from './follow.ts';

let mounted: MountedFiles;
let following: Following;

afterEach(async () => {
  await following.live.stop();
  await mounted.remove();
});

const redis = 'redis: { url: redis://redis:6379 }';

describe('a followed configuration', () => {
  it('keeps the old values for an invalid file, which is logged, counted and told; and takes the next', async () => {
    mounted = await mountFiles({ 'spotalis.yaml': redis });
    const configuration = await loadConfiguration({
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

    await mounted.swap({ 'spotalis.yaml': `${redis}\nreadOnlyMode: maybe\nlogging: { level: debug }` });
    await until('the refusal', () => told.length > 0);
    expect(told[0]).toContain('readOnlyMode: "maybe" is not allowed');
    expect(live.current).toMatchObject({ readOnlyMode: false, logging: { level: 'info' } });
    expect(lines.join('')).toContain('the old one stays in force');
    const text = await metrics.metrics();
    expect(text).toContain('spotalis_configuration_reloads_total{result="rejected"} 1');

    await mounted.swap({ 'spotalis.yaml': `${redis}\nreadOnlyMode: true\nmetrics: { port: 1 }` });
    await until('the change', () => live.current.readOnlyMode);
    expect(live.current.metrics.port).toBe(8080);
    await until('the restart to be asked for', () => lines.join('').includes('metrics.port'));
    expect(told).toHaveLength(1);
  });
});
