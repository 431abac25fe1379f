import { describe, expect, it } from '@jest/globals';
import { affectedBy } from './changed.mjs';

const modules = {
  'e2e/scenarios/moves.test.ts': `import { openTestbed } from '../testbed/testbed.ts';\nimport { decide } from '@spotalis/core';`,
  'e2e/scenarios/plan.test.ts': `import {\n  spotalis,\n  type Answer,\n} from './kubectl.ts';`,
  'e2e/testbed/testbed.ts': `import { install } from '@spotalis/cluster';`,
  'e2e/scenarios/kubectl.ts': '',
  'charts/tests/alerts.real.test.ts': `import { openTestbed } from '@spotalis/e2e/testbed';`,
  'e2e/testbed/index.ts': `export { pdb } from './repair.ts';\nexport { openTestbed } from './testbed.ts';`,
  'e2e/cluster/index.ts': `export { install } from './installation/installation.ts';\nexport { startRedis } from './redis/servers.ts';`,
  'packages/core/src/index.ts': `export { type Verdict, decide } from './distribution/moves/decide.ts';\nexport { plan } from './distribution/preview/plan.ts';`,
  'packages/core/src/distribution/moves/decide.ts': `import type { Pod } from './pod.ts';`,
  'packages/ledger/src/redis/redis-ledger.real.test.ts': `import './redis-ledger.ts';`,
  'packages/webhook/src/main.ts': `import { startRedis } from '@spotalis/cluster';`,
};
const files = Object.keys(modules)
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => ({ path }));

describe('what a change can break', () => {
  const [moves, plan, alerts, ledger] = files.map(({ path }) => path);

  it.each([
    {
      changed: 'packages/core/src/distribution/moves/pod.ts',
      affected: [moves],
      because: 'imports reach it',
    },
    {
      changed: 'packages/core/src/distribution/preview/plan.ts',
      affected: [],
      because: 'only the index leads there',
    },
    { changed: 'packages/cli/src/main.ts', affected: [plan], because: 'it is started' },
    {
      changed: 'e2e/cluster/redis/servers.ts',
      affected: [moves, alerts],
      because: 'what is started imports it',
    },
    {
      changed: 'charts/spotalis/charts/webhook/rbac/a.yaml',
      affected: [moves, alerts],
      because: 'it is read',
    },
    { changed: 'charts/spotalis/values.yaml', affected: [], because: 'nobody here reads it' },
    { changed: 'e2e/testbed/testbed.ts', affected: [moves, alerts], because: 'a door of a room leads there' },
    { changed: 'e2e/testbed/repair.ts', affected: [], because: 'only the door leads there' },
    { changed: 'packages/ledger/src/redis/a-1.lua', affected: [ledger], because: 'its folder reads it' },
    { changed: plan, affected: [plan], because: 'it is a test' },
    { changed: 'pnpm-lock.yaml', affected: [moves, plan, alerts, ledger], because: 'it is everywhere' },
    { changed: 'e2e/bench/main.ts', affected: [], because: 'no test leads there' },
  ])('$changed, as $because', ({ changed, affected }) => {
    const found = affectedBy([changed], files, (path) => modules[path] ?? '');
    expect(found.map(({ path }) => path)).toEqual(affected);
  });
});
