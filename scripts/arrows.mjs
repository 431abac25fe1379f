/**
 * The arrows of the house: which room may import which, and which folder of a room which other folder of it.
 * `node scripts/arrows.mjs` fails on every import that goes against them.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/**
 * By room, the rooms that it may import: always through their index, or one of their folders where it has an index of
 * its own. `cluster` and those after it are for tests and for the tour.
 */
const rooms = {
  units: [],
  kube: ['units'],
  runtime: ['units'],
  core: ['units'],
  ledger: ['core', 'units'],
  webhook: ['core', 'ledger', 'kube', 'runtime', 'units'],
  controller: ['core', 'ledger', 'kube', 'runtime', 'units'],
  cli: ['core', 'kube', 'runtime', 'units'],
  cluster: ['runtime', 'units'],
  e2e: ['cluster', 'core', 'ledger', 'runtime', 'units'],
  tour: ['cluster', 'core', 'e2e/workloads', 'units'],
  charts: ['cluster', 'core', 'core/testing', 'e2e/testbed', 'e2e/workloads', 'runtime'],
  docs: ['cluster', 'core', 'e2e/workloads'],
};

/** The words in which all rules of core speak. */
const vocabulary = ['policy', 'capacity', 'cluster'];

/**
 * By room, each folder of its source with the folders and files of the same room that it may import. A room that is not
 * listed has no arrows inside. What lies beside the folders puts them together and may import all of them. A folder
 * stands for those in it, unless one of them is listed: then all of them have to be.
 */
const folders = {
  core: {
    admission: [],
    services: [],
    policy: ['capacity/type.ts'],
    resource: [],
    module: ['resource'],
    capacity: ['policy', 'cluster/pod-spec.ts'],
    cluster: ['policy', 'capacity/type.ts', 'capacity/mark.ts', 'capacity/placement.ts', 'capacity/admit.ts'],
    disruption: vocabulary,
    resize: [...vocabulary, 'disruption'],
    proof: vocabulary,
    rightsizing: [...vocabulary, 'disruption', 'module', 'resize', 'resource'],
    distribution: [...vocabulary, 'module'],
    'distribution/moves': [...vocabulary, 'disruption', 'proof', 'distribution'],
    'distribution/droughts': [...vocabulary, 'disruption', 'distribution'],
    'distribution/explain': [...vocabulary, 'disruption', 'proof', 'distribution'],
    'distribution/preview': [...vocabulary, 'disruption', 'distribution'],
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
    cluster: [],
    workload: ['cluster'],
    admission: ['review', 'workload'],
    steps: ['admission', 'cluster', 'review', 'workload'],
    report: ['admission', 'steps'],
    serve: ['admission', 'review'],
    rehearsal: ['admission', 'report', 'review', 'serve', 'steps', 'workload'],
    embedded: ['cluster'],
    certificates: ['cluster'],
  },
  controller: {
    'kernel/cluster': [],
    'kernel/disruption': ['kernel/cluster', 'kernel/pauses.ts'],
    'kernel/resize': [],
    'kernel/proof': ['kernel/cluster', 'kernel/clocks.ts'],
    'kernel/leader': ['kernel/cluster', 'kernel/disruption'],
    'kernel/report': ['kernel/cluster', 'kernel/watch.ts'],
    kernel: ['kernel'],
    'modules/distribution': ['kernel'],
    'modules/rightsizing': ['kernel'],
    modules: ['kernel', 'modules'],
  },
  e2e: {
    workloads: [],
    testbed: ['workloads'],
    scenarios: ['testbed', 'workloads'],
    chaos: ['testbed', 'workloads'],
    bench: ['testbed', 'workloads'],
  },
};

export const arrows = { rooms, folders };

/** Tests of the product put together what it keeps apart, and have a cluster. */
const isTest = (path) =>
  path.startsWith('packages/') && (path.endsWith('.test.ts') || /\/(?:testing|bench)\//.test(path));

const importing = /^(?:import|export)\b[^'";]*\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

function specifiersOf(source) {
  return [...source.matchAll(importing)].map(({ index, 1: from, 2: bare, 3: dynamic }) => ({
    specifier: from ?? bare ?? dynamic,
    line: source.slice(0, index).split('\n').length,
  }));
}

/** The source of each room; `inside` is a path in it. */
const sources = [
  /^packages\/(?<room>[^/]+)\/(?:src\/(?<inside>.+)|.+)$/,
  /^e2e\/(?<room>cluster)\/(?<inside>.+)$/,
  /^(?<room>e2e|tour)\/(?<inside>.+)$/,
  /^(?<room>charts|docs)\/tests\/(?<inside>.+)$/,
];

/** The listed folder that a file is in, or the one that is missing from the list; undefined beside all folders. */
function folderOf(room, inside) {
  const rows = Object.keys(folders[room] ?? {});
  const steps = inside?.split('/').slice(0, -1) ?? [];
  let folder;
  for (const step of steps) {
    const next = folder === undefined ? step : `${folder}/${step}`;
    const isSplit = folder === undefined || rows.some((row) => row.startsWith(`${folder}/`));
    if (!isSplit) break;
    folder = next;
  }
  return folder;
}

const placeOf = (path) => {
  const { room, inside } = sources.map((one) => one.exec(path)?.groups).find(Boolean) ?? {};
  return { room, inside, folder: folderOf(room, inside) };
};

/** All that may be imported by name. */
const doors = new Set(Object.values(rooms).flat());

const listed = (names) => (names.length === 0 ? 'nothing' : names.join(', '));

/** What is wrong with one import; undefined when nothing is. */
function problemOf(path, specifier) {
  const here = placeOf(path);
  const [, name] = /^@spotalis\/(.+)$/.exec(specifier) ?? [];
  if (name !== undefined) {
    const allowed = rooms[here.room];
    if (allowed === undefined) return `${here.room} is no room in scripts/arrows.mjs`;
    if (allowed.includes(name) || (name === 'cluster' && isTest(path))) return undefined;
    if (name.includes('/') && !doors.has(name))
      return `come in through the index: '@spotalis/${name.slice(0, name.indexOf('/'))}'`;
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
  const files = globSync(
    ['packages/*/{src,bench}/**/*.ts', '{e2e,tour}/**/*.ts', '{charts,docs}/tests/**/*.ts'],
    {
      exclude: ['**/node_modules', '**/dist'],
    },
  );
  const found = files.flatMap((path) => violationsOf(path, readFileSync(path, 'utf8')));
  for (const one of found) console.log(one);
  process.exitCode = found.length === 0 ? 0 : 1;
}
