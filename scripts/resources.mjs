/** What follows from the custom resources of modules: CRDs for the chart, and a page for each. */
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { crdOf, faultsOf, resourceReference } from '../packages/core/src/index.ts';
import { rightsFolders } from './rights.mjs';

/** In the controller's chart, which can be installed alone and is what watches them. */
const crds = 'charts/spotalis/charts/controller/files/crds';
const pages = 'docs/resources';
const note = '# Written by scripts/generate-docs.mjs from the definition of the resource. Change it there.\n';

/** Anchors and folded lines help nobody who reads a diff. */
const print = (value) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

/** Each file with its text, by its path in the repository. */
export function resourceFiles(modules) {
  return modules.flatMap(({ name, resources }) =>
    resources.flatMap((definition) => {
      const faults = faultsOf(definition);
      if (faults.length > 0) throw new Error(`${definition.kind} has faults: ${faults.join('; ')}`);
      const { plural } = definition;
      return [
        [`${crds}/${name}/${plural}.yaml`, note + print(crdOf(definition))],
        [`${pages}/${plural}.md`, resourceReference(definition, print)],
      ];
    }),
  );
}

/** Files that no module's declaration yields any more. */
export async function strayFiles(root, files) {
  const known = new Set(files.map(([path]) => path));
  const found = await Promise.all([crds, pages, ...rightsFolders].map((folder) => filesIn(root, folder)));
  return found.flat().filter((path) => !known.has(path));
}

async function filesIn(root, folder) {
  try {
    const entries = await readdir(new URL(`${folder}/`, root), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return files.map((entry) => relative(fileURLToPath(root), join(entry.parentPath, entry.name)));
  } catch (error) {
    // There is no folder until a module has a resource.
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}
