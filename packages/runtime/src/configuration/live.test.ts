import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { type MountedFiles, mountFiles } from '../testing/directory.ts';
import { type ShopSettings, shopSettings } from '../testing/settings.ts';
import { until } from '../testing/until.ts';
import { type FollowedConfiguration, loadConfiguration } from './configuration.ts';

describe('a changed file', () => {
  let mounted: MountedFiles;
  let live: FollowedConfiguration<ShopSettings>;
  const heard: string[] = [];

  beforeEach(async () => {
    heard.length = 0;
    mounted = await mountFiles({ 'config.yaml': '' });
    const loaded = await loadConfiguration(shopSettings, {
      file: join(mounted.path, 'config.yaml'),
      environment: { SPOTALIS_SHOP_NAME: 'north' },
    });
    live = loaded.follow(
      {
        changed: (values, keys) => heard.push(`changed ${keys.join()} level=${values.logging.level}`),
        rejected: (error) => heard.push(`rejected ${error.problems.map(({ key }) => key).join()}`),
        needsRestart: (keys) => heard.push(`restart ${keys.join()}`),
      },
      { pollMs: 20 },
    );
    await live.start();
  });

  afterEach(async () => {
    await live.stop();
    await mounted.remove();
  });

  const change = async (yaml: string): Promise<void> => {
    const before = heard.length;
    await mounted.swap({ 'config.yaml': yaml });
    await until(`a word about ${yaml}`, () => heard.length > before);
  };

  it('is picked up through the symlink swap of a ConfigMap', async () => {
    await change('logging: { level: debug }');
    expect(heard).toEqual(['changed logging.level level=debug']);
    expect(live.current.logging.level).toBe('debug');
  });

  it('that is invalid keeps the old values, and a repaired one counts again', async () => {
    await change('logging: { level: loud }');
    expect(heard).toEqual(['rejected logging.level']);
    expect(live.current.logging.level).toBe('info');
    await change('logging: { level: warn }');
    expect(live.current.logging.level).toBe('warn');
  });

  it('keeps keys that need a restart and says so, while the others change', async () => {
    await change('logging: { level: error }\nshop: { port: 1 }');
    expect(heard).toEqual(['changed logging.level level=error', 'restart shop.port']);
    expect(live.current.shop.port).toBe(9443);
  });

  it('does not win over the environment', async () => {
    await change('shop: { name: south }\ndryRun: true');
    expect(live.current).toMatchObject({ dryRun: true, shop: { name: 'north' } });
  });

  it('goes back to the default when the key is gone', async () => {
    await change('logging: { level: debug }');
    await change('');
    expect(live.current.logging.level).toBe('info');
  });
});
