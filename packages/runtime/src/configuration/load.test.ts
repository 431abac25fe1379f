import { describe, expect, it } from '@jest/globals';
import { shopSettings } from '../testing/settings.ts';
import { loadConfiguration } from './configuration.ts';
import { ConfigurationError } from './error.ts';

type Environment = Readonly<Record<string, string>>;

const load = (text: string, environment: Environment = {}) =>
  loadConfiguration(shopSettings, { file: 'shop.yaml', text, environment });

async function problemsOf(text: string, environment: Environment = {}): Promise<readonly string[]> {
  const error: unknown = await load(text, environment).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof ConfigurationError ? error.message.split('\n') : [];
}

describe('a declared setting', () => {
  it('is of the type that its format gives it, unset ones undefined', async () => {
    const { values } = await load('shop: { period: 1m }');
    const {
      shop,
      doors,
    }: {
      readonly shop: {
        readonly port: number;
        readonly period: number;
        readonly kind: 'corner' | 'mall';
        readonly name: string | undefined;
      };
      readonly doors: { readonly open: readonly string[] };
    } = values;
    expect(shop).toMatchObject({ port: 9443, period: 60_000, kind: 'corner', name: undefined });
    expect(doors).toEqual({ open: [], labels: {} });
  });

  it('comes from the default, then the file, then the environment', async () => {
    const text = 'shop: { period: 40s, port: 1 }';
    const loaded = await load(text, { SPOTALIS_SHOP_PORT: '2' });
    expect(loaded.values.shop).toMatchObject({ period: 40_000, port: 2, workers: 5 });
    expect(loaded.describe()).toContain('  period: 40s # file shop.yaml\n');
    expect(loaded.describe()).toContain('  port: 2 # environment SPOTALIS_SHOP_PORT\n');
    expect(loaded.describe()).toContain('  workers: 5 # default\n');
  });

  it('is followed by those that any service has', async () => {
    const { values } = await load('', { SPOTALIS_LOGGING_LEVEL: 'debug' });
    expect(values).toMatchObject({ logging: { level: 'debug', format: 'json' }, health: { port: 8081 } });
  });

  it.each([
    ['SPOTALIS_DRY_RUN', 'true', { dryRun: true }],
    ['SPOTALIS_SHOP_PERIOD', '1500m', { shop: { period: 90_000_000 } }],
    ['SPOTALIS_SHOP_WORKERS', '7', { shop: { workers: 7 } }],
    ['SPOTALIS_SHOP_KIND', 'mall', { shop: { kind: 'mall' } }],
    ['SPOTALIS_SHOP_STORE', 'memory://', { shop: { store: 'memory://' } }],
    ['SPOTALIS_DOORS_OPEN', 'a, b', { doors: { open: ['a', 'b'] } }],
    ['SPOTALIS_DOORS_OPEN', '[c]', { doors: { open: ['c'] } }],
    ['SPOTALIS_DOORS_OPEN', '[fd00::1]:1', { doors: { open: ['[fd00::1]:1'] } }],
    ['SPOTALIS_SHOP_DOORS', 'a', { doors: { open: ['a'] } }],
    [
      'SPOTALIS_DOORS_LABELS',
      '{example.com/a: {b.c: d}}',
      { doors: { labels: { 'example.com/a': { 'b.c': 'd' } } } },
    ],
  ])('is read from %s=%s', async (name, text, values) => {
    expect((await load('', { [name]: text })).values).toMatchObject(values);
  });

  it('may be a map with keys that have dots', async () => {
    const { values } = await load('doors: { labels: { example.com/a: { b.c: d } } }');
    expect(values.doors.labels).toEqual({ 'example.com/a': { 'b.c': 'd' } });
  });

  it('is printed so that it can be read again', async () => {
    const first = await load('shop: { store: "redis://u:pw@r", period: 90s }', {
      SPOTALIS_DOORS_OPEN: 'a,b',
    });
    expect(first.describe()).toContain('store: redis://u:********@r # file');
    const second = await load(first.describe());
    expect({ ...second.values.shop, store: '' }).toEqual({ ...first.values.shop, store: '' });
    expect(second.values.doors).toEqual(first.values.doors);
  });
});

describe('what is refused', () => {
  it.each([
    ['dryRun: "true"', 'dryRun: "true" is not allowed; needs true or false'],
    [
      'shop: { port: "9443" }',
      'shop.port: "9443" is not allowed; needs a whole number from 0 to 65535, for example 9443',
    ],
    [
      'shop: { period: 30 }',
      'shop.period: 30 is not allowed; needs a duration of at least 5s, for example 30s',
    ],
    [
      'shop: { period: 1s }',
      'shop.period: "1s" is not allowed; needs a duration of at least 5s, for example 30s',
    ],
    [
      'shop: { workers: 1.5 }',
      'shop.workers: 1.5 is not allowed; needs a whole number from 1 to 100, for example 5',
    ],
    ['shop: { kind: tent }', 'shop.kind: "tent" is not allowed; needs one of corner, mall'],
    ['shop: { name: N }', 'shop.name: "N" is not allowed; needs a text, for example north'],
    [
      'shop: { store: "http://u:pw@r" }',
      'shop.store: "http://u:********@r" is not allowed; needs a URL starting with redis:// or memory://, for example redis://r',
    ],
    [
      'doors: { open: [a, "b c"] }',
      'doors.open: ["a","b c"] is not allowed; needs a list of doors, for example [front]; entry 1 is "b c"',
    ],
    [
      'doors: { labels: [a] }',
      'doors.labels: ["a"] is not allowed; needs labels, for example { a: b }; ["a"] is no map',
    ],
    ['shop: { perod: 1m }', 'shop.perod: unknown key; did you mean shop.period?'],
    ['shop: 1', 'shop: 1 is not allowed; needs a map with port, period, workers, kind, name, store'],
    [
      'doors: { open: [a] }\nshop: { doors: [b] }',
      'shop.doors: is the same setting as doors.open; write only doors.open',
    ],
    ['shop: { kind: mall, workers: 1 }', 'shop.workers: has to be at least 5 in a mall'],
  ])('%s', async (text, message) => {
    expect(await problemsOf(text)).toEqual([message]);
  });

  it('is told all at once, in the order of the declaration', async () => {
    const environment = { SPOTALIS_SHOP_PORT: 'x', SPOTALIS_SHOP_PROT: '1' };
    expect(await problemsOf('doors: { open: 1 }\nshop: { kind: 1 }\nother: 1', environment)).toEqual([
      expect.stringMatching(/^other: unknown key/),
      'SPOTALIS_SHOP_PROT: unknown environment variable; did you mean SPOTALIS_SHOP_PORT?',
      expect.stringMatching(/^shop\.port: "x" is not allowed \(from SPOTALIS_SHOP_PORT\); needs/),
      expect.stringMatching(/^shop\.kind: 1 is not allowed; needs/),
      expect.stringMatching(/^doors\.open: 1 is not allowed; needs/),
    ]);
  });
});
