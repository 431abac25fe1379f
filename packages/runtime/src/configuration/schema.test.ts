import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
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

function sourcesOf(names: readonly string[]): readonly string[] {
  return names
    .map((name) => join(packages, name, 'src'))
    .flatMap((root) =>
      readdirSync(root, { recursive: true, encoding: 'utf8' }).map((file) => join(root, file)),
    )
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|\/runtime\/src\/configuration\//.test(file))
    .map((file) => readFileSync(file, 'utf8'));
}

/** Read by a service by its own name, or read by someone whom a service hands the whole group. */
function isUsed(key: string, service: readonly string[], everything: readonly string[]): boolean {
  const [leaf = '', ...groups] = key.split('.').toReversed();
  const [group] = groups;
  if (group === undefined) return service.some((source) => source.includes(`.${leaf}`));
  if (service.some((source) => new RegExp(`\\b${group}\\??\\.${leaf}\\b`).test(source))) return true;
  const any = groups.join('|');
  const handedOn = new RegExp(`\\.(${any})\\b(?!\\s*\\??\\.)|[{,]\\s*(${any})\\s*[,}]`);
  const read = new RegExp(`\\.${leaf}\\b|[{,]\\s*${leaf}\\s*[,}:]`);
  return service.some((source) => handedOn.test(source)) && everything.some((source) => read.test(source));
}

describe('no key is dead', () => {
  // The part of a service that reads the command line and opens the log is in runtime.
  const service = sourcesOf(['webhook', 'controller', 'runtime']);
  const everything = [...service, ...sourcesOf(['core', 'ledger'])];

  it.each([...settings.keys()])('%s is used', (key) => {
    expect(isUsed(key, service, everything)).toBe(true);
  });

  it('and one that nobody reads would be found', () => {
    expect(isUsed('controller.colour', service, everything)).toBe(false);
    expect(isUsed('colour', service, everything)).toBe(false);
  });
});
