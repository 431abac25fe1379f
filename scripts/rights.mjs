/** What follows from the rights that modules declare: rules in the charts of the services. */
import { stringify } from 'yaml';
import { ruleOf } from '../packages/core/src/index.ts';

export const rightsFolders = ['controller', 'webhook'].map(
  (service) => `charts/spotalis/charts/${service}/rbac/modules`,
);

const note = (name) =>
  `# Written by scripts/generate-docs.mjs from the rights that the module ${name} declares. Change them there.\n`;

/** One rule, with what it is for above it, and its lists on one line each. */
function print(right) {
  const members = Object.entries(ruleOf(right)).map(
    ([key, value]) =>
      `${key}: ${stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trim()}`,
  );
  return `# ${right.why}\n- ${members.join('\n  ')}\n`;
}

/** Each file with its text, by its path in the repository. */
export function rightsFiles(modules) {
  return modules.flatMap(({ name, rights }) =>
    Object.entries(rights).flatMap(([service, reaches]) =>
      Object.entries(reaches).map(([reach, rules]) => [
        `charts/spotalis/charts/${service}/rbac/modules/${name}/${reach}.yaml`,
        note(name) + rules.map(print).join(''),
      ]),
    ),
  );
}
