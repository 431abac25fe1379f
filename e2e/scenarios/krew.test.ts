/** @needs nothing */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

const execute = promisify(execFile);
const script = fileURLToPath(new URL('../../scripts/krew.mjs', import.meta.url));
const address = 'https://example.com/releases/v1';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly shortDescription: string;
    readonly platforms: readonly {
      readonly uri: string;
      readonly sha256: string;
      readonly bin: string;
      readonly files: readonly { readonly from: string; readonly to: string }[];
      readonly selector: { readonly matchExpressions: readonly { readonly key: string }[] };
    }[];
  };
}

const make = (out: string, baseUri = address) =>
  execute(process.execPath, [script, '--base-uri', baseUri, '--out', out]);

describe('a release of kubectl spotalis', () => {
  let out: string;
  let archive: string;
  let manifest: Manifest;

  beforeAll(async () => {
    out = mkdtempSync(join(tmpdir(), 'spotalis-krew-'));
    await make(out);
    manifest = parse(readFileSync(join(out, 'spotalis.yaml'), 'utf8'));
    archive = readdirSync(out).find((file) => file.endsWith('.tar.gz')) ?? '';
  });

  afterAll(() => rmSync(out, { recursive: true, force: true }));

  it('has a manifest with all that krew asks for', () => {
    expect(manifest).toMatchObject({
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      // The name of the file, too.
      metadata: { name: 'spotalis' },
    });
    const { version, shortDescription, platforms } = manifest.spec;
    expect(version).toMatch(/^v\d+\.\d+\.\d+(-[\w.]+)?$/);
    expect(shortDescription).toMatch(/^[^\n]{10,50}$/);
    expect(platforms.length).toBeGreaterThan(0);
    for (const { uri, sha256, bin, files, selector } of platforms) {
      expect(uri).toBe(`${address}/${archive}`);
      expect(sha256).toMatch(/^[a-f0-9]{64}$/);
      expect(files.map(({ from }) => from)).toContain(bin);
      expect(files.every(({ to }) => to === '.')).toBe(true);
      expect(selector.matchExpressions.map(({ key }) => key)).toEqual(['os']);
    }
  });

  it('has an archive of that checksum, which unpacks to a program that runs by its link', async () => {
    const [platform] = manifest.spec.platforms;
    const bytes = readFileSync(join(out, archive));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(platform?.sha256);
    await execute('tar', ['-xzf', join(out, archive), '-C', out]);
    for (const { from } of platform?.files ?? []) expect(readdirSync(out)).toContain(from);
    // As krew does it.
    const link = join(out, 'kubectl-spotalis');
    symlinkSync(join(out, platform?.bin ?? ''), link);
    const { stdout } = await execute(link, ['version']);
    expect(stdout).toContain(manifest.spec.version.slice(1));
    const { stdout: help } = await execute(link, ['--help']);
    expect(help).toContain('Usage: kubectl spotalis COMMAND');
  });

  it('is the same, byte for byte, whenever it is made', async () => {
    const again = join(out, 'again');
    await make(again);
    expect(readFileSync(join(again, archive)).equals(readFileSync(join(out, archive)))).toBe(true);
  });

  it('has an address that krew takes', async () => {
    const refused = make(join(out, 'none'), 'http://example.com').catch(
      (error: { stderr?: string }) => error.stderr,
    );
    expect(await refused).toContain(
      '--base-uri http://example.com: needs the address of a directory, https://',
    );
  });
});
