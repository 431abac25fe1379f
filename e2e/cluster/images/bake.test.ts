import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string) => readFileSync(`${repository}/${path}`, 'utf8');
const bake = read('docker/docker-bake.hcl');
const dockerfile = read('docker/Dockerfile');

/** The list of texts that the bake file gives a name. */
function list(name: string): string[] {
  const [, items = ''] = new RegExp(`^\\s*${name}\\s*=\\s*(\\[.*\\])$`, 'm').exec(bake) ?? [];
  return JSON.parse(items);
}

const [, services = '[]'] = /matrix\s*=\s*\{ service = (\[.*\]) \}/.exec(bake) ?? [];

describe('the bake file', () => {
  it('builds every target of the Dockerfile that starts a service, and no other', () => {
    const started = [...dockerfile.matchAll(/^FROM \S+ AS (\S+)\n(?:(?!FROM ).*\n)*?ENTRYPOINT/gm)];
    expect(JSON.parse(services)).toEqual(started.map(([, target]) => target));
    expect(bake).toMatch(/^\s*target\s*=\s*service$/m);
  });

  it('names the Dockerfile and the root as its context', () => {
    const [, file = ''] = /dockerfile\s*=\s*"(.*)"/.exec(bake) ?? [];
    expect(existsSync(`${repository}/${file}`)).toBe(true);
    expect(bake).toMatch(/context\s*=\s*"\."/);
  });

  it('builds for both architectures, with SBOM and provenance', () => {
    expect(list('platforms')).toEqual(['linux/amd64', 'linux/arm64']);
    expect(list('attest')).toEqual(['type=sbom', 'type=provenance,mode=max']);
  });

  it('closes every block that it opens, and uses every variable that it has', () => {
    const plain = bake.replaceAll(/#.*$/gm, '').replaceAll('${', '{');
    expect(plain.split('{').length).toBe(plain.split('}').length);
    for (const [, name = ''] of bake.matchAll(/^variable "(\w+)"/gm))
      expect(bake.split(new RegExp(`\\b${name}\\b`)).length).toBeGreaterThan(2);
  });

  it('gives images the names that the charts ask for', () => {
    const [, registry] = /variable "REGISTRY" \{\s*default = "(.*)"/.exec(bake) ?? [];
    for (const service of JSON.parse(services))
      expect(read(`charts/spotalis/charts/${service}/values.yaml`)).toContain(
        `repository: ${registry}/${service}\n`,
      );
    const [, version] = /variable "VERSION" \{\s*default = "(.*)"/.exec(bake) ?? [];
    expect(read('charts/spotalis/Chart.yaml')).toContain(`appVersion: ${version}\n`);
  });
});
