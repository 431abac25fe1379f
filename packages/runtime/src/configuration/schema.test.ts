import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { definition } from './schema.ts';
import { environmentName, settingsOf } from './setting.ts';

const settings = settingsOf(definition.schema);

describe('the schema', () => {
  it.each([...settings])('%s has a default it would accept itself, and a meaning', (_key, setting) => {
    const parsed = setting.parse(setting.default);
    expect(parsed.ok).toBe(true);
    expect(setting.doc).toMatch(/^.{10,}\.$/s);
    expect(setting.allowed).not.toBe('');
  });

  it('gives every key and alias an environment variable of its own', () => {
    const names = [...settings].flatMap(([key, { aliases }]) =>
      [key, ...aliases].map((name) => environmentName(name)),
    );
    expect(new Set(names).size).toBe(names.length);
  });
});

const packages = fileURLToPath(new URL('../../..', import.meta.url));
const services = ['webhook', 'controller'].filter((name) => existsSync(`${packages}/${name}/src/main.ts`));

const word = (name: string): RegExp => new RegExp(`\\b${name}\\b`);

/** Sources that may use a key: both services, and this package where it is not the schema itself. */
function sources(): readonly string[] {
  return ['webhook', 'controller', 'runtime']
    .map((name) => join(packages, name, 'src'))
    .flatMap((root) =>
      readdirSync(root, { recursive: true, encoding: 'utf8' }).map((file) => join(root, file)),
    )
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => !/\.test\.ts$|\/runtime\/src\/configuration\//.test(file))
    .map((file) => readFileSync(file, 'utf8'));
}

// Only where both services are complete can a key be called dead.
(services.length === 2 ? describe : describe.skip)('no key is dead', () => {
  const texts = sources();
  it.each([...settings.keys()])('%s is used by a service', (key) => {
    const [leaf = '', group] = key.split('.').toReversed();
    const users = texts.filter(
      (text) => word(leaf).test(text) && (group === undefined || word(group).test(text)),
    );
    expect(users).not.toHaveLength(0);
  });
});
