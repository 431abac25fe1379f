/**
 * The arrows of the house: which room may import which, and which folder of a room which other folder of it.
 * `node scripts/arrows.mjs` fails on every import that goes against them.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** By room, the rooms that it may import: always through their index. */
const rooms = {
  units: [],
  kube: ['units'],
  runtime: ['units'],
  core: ['units'],
  ledger: ['core', 'units'],
  webhook: ['core', 'ledger', 'kube', 'runtime', 'units'],
  controller: ['core', 'ledger', 'kube', 'runtime', 'units'],
  cli: ['core', 'kube', 'runtime', 'units'],
};

/** The words in which all rules of core speak. */
const vocabulary = ['policy', 'distribution', 'capacity', 'cluster'];

/**
 * By room, each folder of its `src` with the folders and files of the same room that it may import. A room that is not
 * listed has no arrows inside. What lies in `src` itself puts the folders together and may import all of them.
 */
const folders = {
  core: {
    admission: [],
    services: [],
    policy: ['distribution/target.ts'],
    distribution: ['capacity/type.ts'],
    capacity: ['policy', 'distribution', 'cluster/pod-spec.ts'],
    cluster: [
      'policy',
      'distribution/target.ts',
      'capacity/type.ts',
      'capacity/mark.ts',
      'capacity/placement.ts',
    ],
    disruption: vocabulary,
    drought: [...vocabulary, 'disruption', 'rebalance'],
    placeholder: [...vocabulary, 'drought', 'rebalance'],
    rebalance: [...vocabulary, 'disruption', 'drought', 'placeholder'],
    explain: [...vocabulary, 'disruption', 'drought', 'placeholder', 'rebalance'],
    preview: [...vocabulary, 'disruption', 'drought', 'rebalance'],
  },
  runtime: {
    files: [],
    logging: [],
    lifecycle: ['logging'],
    certificates: ['files', 'lifecycle'],
    metrics: ['certificates'],
    configuration: ['files', 'health/settings.ts', 'lifecycle', 'logging', 'metrics'],
    http: ['certificates', 'lifecycle', 'logging'],
    health: ['files', 'http', 'lifecycle', 'logging'],
    command: ['configuration', 'lifecycle', 'logging'],
  },
  webhook: {
    review: [],
    workload: ['report', 'reserve'],
    reserve: ['workload'],
    admission: ['reserve', 'review', 'workload'],
    report: ['admission'],
    serve: ['admission', 'report', 'reserve', 'review'],
    rehearsal: ['admission', 'report', 'reserve', 'review', 'serve', 'workload'],
    embedded: ['workload'],
    certificates: ['workload'],
  },
};

export const arrows = { rooms, folders };

/** Tests put together what the product keeps apart, and have a cluster. */
const isTest = (path) => path.endsWith('.test.ts') || /\/(?:testing|bench)\//.test(path);

const importing = /^(?:import|export)\b[^'";]*\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

function specifiersOf(source) {
  return [...source.matchAll(importing)].map(({ index, 1: from, 2: bare, 3: dynamic }) => ({
    specifier: from ?? bare ?? dynamic,
    line: source.slice(0, index).split('\n').length,
  }));
}

const placeOf = (path) => {
  const [, room, below] = /^packages\/([^/]+)\/(.+)$/.exec(path) ?? [];
  const inside = below?.startsWith('src/') ? below.slice('src/'.length) : undefined;
  const folder = inside?.includes('/') ? inside.slice(0, inside.indexOf('/')) : undefined;
  return { room, inside, folder };
};

const listed = (names) => (names.length === 0 ? 'nothing' : names.join(', '));

/** What is wrong with one import; undefined when nothing is. */
function problemOf(path, specifier) {
  const here = placeOf(path);
  const [, room, beyondIndex] = /^@spotalis\/([^/]+)(\/.+)?$/.exec(specifier) ?? [];
  if (beyondIndex !== undefined) return `come in through the index: '@spotalis/${room}'`;
  if (room !== undefined) {
    const allowed = rooms[here.room];
    if (allowed === undefined) return `${here.room} is no room in scripts/arrows.mjs`;
    if (allowed.includes(room) || (room === 'cluster' && isTest(path))) return undefined;
    return `${here.room} may import ${listed(allowed)} of ours`;
  }
  if (!specifier.startsWith('.')) return undefined;
  const there = placeOf(join(dirname(path), specifier));
  if (there.room !== here.room) return 'come in through the index of the package';
  const inside = folders[here.room];
  if (inside === undefined || isTest(path) || here.folder === undefined) return undefined;
  const allowed = inside[here.folder];
  if (allowed === undefined) return `${here.room}/${here.folder} is no folder in scripts/arrows.mjs`;
  if (there.folder === here.folder) return undefined;
  if (allowed.some((one) => there.inside === one || there.inside?.startsWith(`${one}/`))) return undefined;
  return `${here.room}/${here.folder} may import ${listed(allowed)} of ${here.room}`;
}

/** One line for each import of the file that goes against the arrows. */
export function violationsOf(path, source) {
  return specifiersOf(source).flatMap(({ specifier, line }) => {
    const problem = problemOf(path, specifier);
    return problem === undefined ? [] : [`${path}:${line}: '${specifier}': ${problem}`];
  });
}

if (import.meta.main) {
  const files = globSync('packages/*/{src,bench}/**/*.ts');
  const found = files.flatMap((path) => violationsOf(path, readFileSync(path, 'utf8')));
  for (const one of found) console.log(one);
  process.exitCode = found.length === 0 ? 0 : 1;
}
