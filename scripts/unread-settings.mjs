/**
 * Which settings no code reads: `node scripts/unread-settings.mjs` fails on each. The compiler follows every declared
 * key to where its value is read, whatever the key is called. What only rules, tests or the CLI read counts as unread.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  getTokenAtPosition,
  isBindingElement,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
} from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

const root = join(import.meta.dirname, '..');
/** Only in memory: one program of all that a service is made of. */
const projectFile = join(root, 'tsconfig.services.json');
const services = 'packages/{units,core,ledger,kube,runtime,webhook,controller}/src/**/*.ts';
const isPartOfService = (path) => !/\.test\.ts$|\/testing\//.test(path);

const project = (files) =>
  JSON.stringify({
    extends: './tsconfig.base.json',
    compilerOptions: { composite: false, emitDeclarationOnly: false, noEmit: true },
    files,
  });

/** Calls `visit` for each setting below the node: `{ format, default, doc, ... }`, of which a part may be spread in. */
function visitSettings(node, prefix, visit) {
  for (const member of node.properties ?? []) {
    const inner = member.initializer;
    if (!isPropertyAssignment(member) || !isObjectLiteralExpression(inner)) continue;
    const key = `${prefix}${member.name.text}`;
    const names = new Set(inner.properties.map(({ name }) => name?.text));
    if (names.has('doc') && names.has('default')) visit(key, member.name);
    else visitSettings(inner, `${key}.`, visit);
  }
}

function eachObject(node, visit) {
  node.forEachChild((child) => {
    if (isObjectLiteralExpression(child)) visit(child);
    else eachObject(child, visit);
  });
}

/** The charts and the CLI read the switch of each module by its name: CRDs and rights follow from it. */
const isSwitch = (key) => /^modules\.[a-z]+\.enabled$/.test(key);

const isRead = (node) =>
  (isPropertyAccessExpression(node.parent) && node.parent.name === node) ||
  (isBindingElement(node.parent) && (node.parent.propertyName ?? node.parent.name) === node);

export const declaringFiles = () =>
  globSync(services, { cwd: root })
    .filter(isPartOfService)
    .filter(
      (path) =>
        /\bdeclare\(/.test(readFileSync(join(root, path), 'utf8')) && !path.startsWith('packages/units/'),
    );

/**
 * Every declared key, and those that nobody reads. `sources` has other texts for some files, by their path in the
 * repository.
 */
export function followSettings(sources = {}) {
  const files = globSync(services, { cwd: root }).filter(isPartOfService);
  const texts = new Map(Object.entries(sources).map(([path, text]) => [join(root, path), text]));
  texts.set(projectFile, project(files));
  const api = new API({
    cwd: root,
    fs: {
      readFile: (path) => texts.get(path),
      fileExists: (path) => (texts.has(path) ? true : undefined),
    },
  });
  try {
    const [{ program, checker }] = api.updateSnapshot({ openProjects: [projectFile] }).getProjects();
    const declaring = new Set(declaringFiles().map((path) => join(root, path)));
    const declared = [];
    const unread = [];
    for (const path of declaring) {
      const file = program.getSourceFile(path);
      eachObject(file, (object) =>
        visitSettings(object, '', (key, name) => {
          declared.push(key);
          if (isSwitch(key)) return;
          const position = name.getStart(file);
          const references = checker
            .getReferencedSymbolsForNode(getTokenAtPosition(file, position), position)
            // Not those of a member of the same name of the type that a declaration is checked against.
            .filter(({ definition }) => declaring.has(definition.path))
            .flatMap((entry) => entry.references)
            .filter((reference) => !declaring.has(reference.path));
          if (references.some((reference) => isRead(reference.resolve()))) return;
          const line = file.text.slice(0, position).split('\n').length;
          unread.push({ key, where: `${relative(root, path)}:${line}` });
        }),
      );
    }
    return { declared, unread };
  } finally {
    api.close();
  }
}

if (import.meta.main) {
  const { unread } = followSettings();
  for (const { key, where } of unread) console.log(`${where}: no service reads ${key}`);
  process.exitCode = unread.length === 0 ? 0 : 1;
}
