import { afterEach, describe, expect, it } from '@jest/globals';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createLogger } from '../logging/logger.ts';
import { Metrics } from '../metrics/registry.ts';
import { type MountedFiles, mountFiles } from '../testing/directory.ts';
import { until } from '../testing/until.ts';
import { type ConfigurationRule, loadConfiguration } from './configuration.ts';
import { type Following, followConfiguration } from './follow.ts';

let mounted: MountedFiles;
let following: Following;

afterEach(async () => {
  await following.live.stop();
  await mounted.remove();
});

const redis = 'redis: { url: redis://redis:6379 }';

/** A law that the schema does not know. */
const shortSchedules: ConfigurationRule = ({ rebalance: { schedule = '' } }) =>
  schedule.length > 9 ? [{ key: 'rebalance.schedule', message: 'is too long' }] : [];

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
      rules: [shortSchedules],
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
    const page = await text(metrics.page());
    expect(page).toContain('spotalis_configuration_reloads_total{result="rejected"} 1');

    await mounted.swap({ 'spotalis.yaml': `${redis}\nreadOnlyMode: true\nmetrics: { port: 1 }` });
    await until('the change', () => live.current.readOnlyMode);
    expect(live.current.metrics.port).toBe(8080);
    await until('the restart to be asked for', () => lines.join('').includes('metrics.port'));
    expect(told).toHaveLength(1);

    const window = 'rebalance: { schedule: 0 22 * * *, duration: 4h }';
    await mounted.swap({
      'spotalis.yaml': `${redis}\nreadOnlyMode: false\nmetrics: { port: 2 }\n${window}`,
    });
    await until('what the service refuses', () => told.length > 1 || !live.current.readOnlyMode);
    expect(told[1]).toBe('rebalance.schedule: is too long');
    expect(live.current).toMatchObject({ readOnlyMode: true, rebalance: { schedule: undefined } });
    expect(await text(metrics.page())).toContain('{result="rejected"} 2');
    expect(lines.filter((line) => line.includes('metrics.port'))).toHaveLength(1);
  });

  it('has to keep the rules of the service from the start', async () => {
    mounted = await mountFiles({
      'spotalis.yaml': `${redis}\nrebalance: { schedule: 0 22 * * *, duration: 4h }`,
    });
    const configuration = await loadConfiguration({
      file: `${mounted.path}/spotalis.yaml`,
      environment: {},
    });
    const listener = { changed() {}, rejected() {}, needsRestart() {} };
    expect(() => configuration.follow(listener, { rules: [shortSchedules] })).toThrow('is too long');
  });
});
