import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { crdOf } from '../packages/core/src/index.ts';
import { toy } from '../packages/core/src/testing/toy.ts';
import { resourceFiles, strayFiles } from './resources.mjs';

const files = resourceFiles([{ name: 'recycling', resources: [toy] }]);

describe('the files of a custom resource', () => {
  let folder;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'resources-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('are its CRD in the folder of its module, and its page', () => {
    expect(files.map(([path]) => path)).toEqual([
      'charts/spotalis/charts/controller/files/crds/recycling/toypolicies.yaml',
      'docs/resources/toypolicies.md',
    ]);
    const [[, crd], [, page]] = files;
    expect(parse(crd)).toEqual(crdOf(toy));
    expect(page).toContain('```yaml\napiVersion: spotalis.io/v1alpha1\nkind: ToyPolicy\n');
  });

  it('are not written for a definition with faults', () => {
    const faulty = [{ name: 'recycling', resources: [{ ...toy, plural: 'Toys' }] }];
    expect(() => resourceFiles(faulty)).toThrow('ToyPolicy has faults: Toys: names are in lower case');
  });

  it('are found where no definition has them any more', async () => {
    const root = pathToFileURL(`${folder}/`);
    expect(await strayFiles(root, [])).toEqual([]);
    for (const [path, text] of files) {
      await mkdir(join(folder, dirname(path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    expect(await strayFiles(root, files)).toEqual([]);
    expect(await strayFiles(root, [])).toEqual(files.map(([path]) => path));
  });
});
