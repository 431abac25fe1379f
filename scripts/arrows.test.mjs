import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { arrows, violationsOf } from './arrows.mjs';

const cluster = 'packages/core/src/cluster/fit.ts';
const decide = 'packages/core/src/distribution/moves/decide.ts';

describe('an arrow', () => {
  it('between folders lets through what its row allows', () => {
    const source = `import { a } from './node.ts';
import type { B } from '../policy/keys.ts';
import { parseQuantity } from '@spotalis/units';
import { join } from 'node:path';
`;
    expect(violationsOf(cluster, source)).toEqual([]);
    expect(violationsOf(decide, "import { evidenceFor } from '../../cluster/fit.ts';")).toEqual([]);
  });

  it.each([
    ["import { held } from '../distribution/moves/verdict.ts';"],
    ["import type { Decided } from '../distribution/moves/verdict.ts';"],
    ["export { held } from '../distribution/moves/verdict.ts';"],
    ["export * from '../distribution/moves/verdict.ts';"],
    ["import '../distribution/moves/verdict.ts';"],
    ["const { held } = await import('../distribution/moves/verdict.ts');"],
    ["import {\n  held,\n  type Decided,\n} from '../distribution/moves/verdict.ts';"],
  ])('between folders stops %j, and says what is allowed', (source) => {
    expect(violationsOf(cluster, `const before = 1;\n${source}\n`)).toEqual([
      expect.stringMatching(
        /^packages\/core\/src\/cluster\/fit\.ts:2: .*: core\/cluster may import policy, .* of core$/,
      ),
    ]);
  });

  it('may lead to one file of a folder', () => {
    const policy = 'packages/core/src/policy/policy.ts';
    expect(violationsOf(policy, "import { otherType } from '../capacity/type.ts';")).toEqual([]);
    expect(violationsOf(policy, "import { admitPod } from '../capacity/admit.ts';")).toHaveLength(1);
  });

  it('of a folder inside another one is its own', () => {
    const preview = 'packages/core/src/distribution/preview/plan.ts';
    expect(violationsOf(preview, "import { decide } from '../moves/decide.ts';")).toEqual([]);
    expect(violationsOf(preview, "import { evidenceOf } from '../../proof/evidence.ts';")).toHaveLength(1);
    const settings = 'packages/core/src/distribution/settings.ts';
    expect(violationsOf(settings, "import { decide } from './moves/decide.ts';")).toHaveLength(1);
  });

  it('is asked for where a folder or a room is new', () => {
    const [folder] = violationsOf('packages/core/src/fresh/a.ts', "import { a } from '../policy/keys.ts';");
    expect(folder).toContain('core/fresh is no folder in scripts/arrows.mjs');
    const [room] = violationsOf('packages/fresh/src/a.ts', "import { a } from '@spotalis/units';");
    expect(room).toContain('fresh is no room in scripts/arrows.mjs');
  });

  it('between folders of a folder is asked for, too', () => {
    const executor = 'packages/controller/src/kernel/disruption/executor.ts';
    const module = 'packages/controller/src/modules/distribution/ledger/observer.ts';
    expect(violationsOf(executor, "import { Cluster } from '../cluster/cluster.ts';")).toEqual([]);
    expect(violationsOf(module, "import { a } from '../rebalance/changes.ts';")).toEqual([]);
    expect(
      violationsOf(module, "import { Register } from '../../../kernel/disruption/register.ts';"),
    ).toEqual([]);
    const [report] = violationsOf(
      executor,
      "import { a } from '../../modules/distribution/report/events.ts';",
    );
    expect(report).toContain('controller/kernel/disruption may import kernel/cluster, ');
    const [fresh] = violationsOf(
      'packages/controller/src/kernel/fresh/a.ts',
      "import { a } from '../cluster/cluster.ts';",
    );
    expect(fresh).toContain('controller/kernel/fresh is no folder in scripts/arrows.mjs');
    const [sibling] = violationsOf(
      'packages/controller/src/modules/recycling/a.ts',
      "import { a } from '../distribution/proof.ts';",
    );
    expect(sibling).toContain('controller/modules/recycling is no folder in scripts/arrows.mjs');
  });

  it('inside of a room holds nobody up who puts it together, nor tests', () => {
    const source = "import { held } from '../distribution/moves/verdict.ts';";
    expect(violationsOf('packages/core/src/index.ts', source.replace('..', '.'))).toEqual([]);
    expect(violationsOf('packages/core/src/cluster/fit.test.ts', source)).toEqual([]);
    expect(violationsOf('packages/core/src/testing/rebalance.ts', source)).toEqual([]);
  });

  it.each([
    ['core', '@spotalis/ledger', 'core may import units of ours'],
    ['core', '@spotalis/core', 'core may import units of ours'],
    ['units', '@spotalis/core', 'units may import nothing of ours'],
    ['kube', '@spotalis/cluster', 'kube may import units of ours'],
    ['ledger', '@spotalis/runtime', 'ledger may import core, units of ours'],
    ['webhook', '@spotalis/controller', 'webhook may import core, ledger, kube, runtime, units of ours'],
    ['cli', '@spotalis/e2e', 'cli may import core, kube, runtime, units of ours'],
    ['webhook', '@spotalis/core/src/index.ts', "come in through the index: '@spotalis/core'"],
    ['webhook', '../../core/src/index.ts', 'come in through the index of the package'],
    ['webhook', '../../../e2e/cluster/index.ts', 'come in through the index of the package'],
  ])('between rooms stops %s from importing %s', (room, specifier, problem) => {
    const source = `import { a } from '${specifier}';`;
    expect(violationsOf(`packages/${room}/src/a.ts`, source)).toEqual([
      `packages/${room}/src/a.ts:1: '${specifier}': ${problem}`,
    ]);
  });

  it('lets tests alone have a cluster', () => {
    const source = "import { startCluster } from '@spotalis/cluster';";
    expect(violationsOf('packages/kube/src/lease/elector.real.test.ts', source)).toEqual([]);
    expect(violationsOf('packages/kube/bench/store.ts', source)).toEqual([]);
  });
});

describe('an arrow of what tests the product', () => {
  it.each([
    ['tour/observation.ts', '@spotalis/e2e/workloads'],
    ['charts/tests/alerts.real.test.ts', '@spotalis/e2e/testbed'],
    ['e2e/chaos/redis.test.ts', '../testbed/stage.ts'],
    ['tour/scenes/scale.ts', '../table.ts'],
    ['tour/tour.ts', '@spotalis/cluster'],
    ['e2e/cluster/cluster.ts', './process/wait.ts'],
    ['e2e/cluster/certificates.ts', '@spotalis/runtime'],
  ])('lets %s import %s', (path, specifier) => {
    expect(violationsOf(path, `import { a } from '${specifier}';`)).toEqual([]);
  });

  it.each([
    ['tour/tour.real.test.ts', '../e2e/scenarios/floors.ts', 'come in through the index of the package'],
    ['tour/tour.ts', '@spotalis/e2e/testbed', 'tour may import cluster, core, e2e/workloads, units of ours'],
    ['tour/tour.ts', '@spotalis/e2e/scenarios', "come in through the index: '@spotalis/e2e'"],
    [
      'docs/tests/links.test.ts',
      '../../packages/cli/src/index.ts',
      'come in through the index of the package',
    ],
    ['docs/tests/commands.ts', '@spotalis/kube', 'docs may import cluster, core, e2e/workloads of ours'],
    ['e2e/testbed/burst.ts', '../chaos/burst.ts', 'e2e/testbed may import workloads of e2e'],
    ['e2e/chaos/redis.test.ts', '../cluster/cluster.ts', 'come in through the index of the package'],
    [
      'e2e/scenarios/moves.test.ts',
      '@spotalis/cluster/cluster.ts',
      "come in through the index: '@spotalis/cluster'",
    ],
    [
      'e2e/scenarios/moves.test.ts',
      '@spotalis/kube',
      'e2e may import cluster, core, ledger, runtime, units of ours',
    ],
    ['e2e/cluster/cluster.ts', '../workloads/workload.ts', 'come in through the index of the package'],
    ['e2e/cluster/cluster.ts', '@spotalis/core', 'cluster may import runtime, units of ours'],
  ])('stops %s from importing %s', (path, specifier, problem) => {
    expect(violationsOf(path, `import { a } from '${specifier}';`)).toEqual([
      `${path}:1: '${specifier}': ${problem}`,
    ]);
  });
});

describe('the table', () => {
  const apart = {
    cluster: 'e2e/cluster',
    e2e: 'e2e',
    tour: 'tour',
    charts: 'charts/tests',
    docs: 'docs/tests',
  };
  const sourceOf = (name) => {
    const [room, ...folder] = name.split('/');
    return join(apart[room] ?? `packages/${room}/src`, ...folder);
  };

  it('names only what there is', () => {
    const named = [
      ...Object.entries(arrows.rooms).flat(2).map(sourceOf),
      ...Object.entries(arrows.folders).flatMap(([room, rows]) =>
        Object.entries(rows)
          .flat(2)
          .map((one) => join(sourceOf(room), one)),
      ),
    ];
    const root = join(import.meta.dirname, '..');
    expect(named.filter((one) => !existsSync(join(root, one)))).toEqual([]);
  });

  it('has no circle of rooms', () => {
    const reached = (room, seen = new Set()) => {
      for (const next of arrows.rooms[room].map((name) => name.split('/')[0]))
        if (!seen.has(next)) reached(next, seen.add(next));
      return seen;
    };
    for (const room of Object.keys(arrows.rooms)) expect(reached(room)).not.toContain(room);
  });
});
