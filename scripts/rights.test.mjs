import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { ruleOf } from '../packages/core/src/index.ts';
import { toyModule } from '../packages/core/src/testing/index.ts';
import { rightsFiles, rightsFolders } from './rights.mjs';

const files = rightsFiles([toyModule]);

describe('the rights of a module in the charts', () => {
  it('are a file for each service and reach, where files that are gone are looked for', () => {
    expect(files.map(([path]) => path)).toEqual([
      'charts/spotalis/charts/controller/rbac/modules/toy/cluster.yaml',
      'charts/spotalis/charts/controller/rbac/modules/toy/workloads.yaml',
      'charts/spotalis/charts/webhook/rbac/modules/toy/cluster.yaml',
    ]);
    for (const [path] of files) expect(rightsFolders.some((folder) => path.startsWith(folder))).toBe(true);
  });

  it('are the rules that it declares, each with its reason', () => {
    const { cluster, workloads } = toyModule.rights.controller;
    expect(files.slice(0, 2).map(([, text]) => parse(text))).toEqual([
      cluster.map(ruleOf),
      workloads.map(ruleOf),
    ]);
    expect(files[1][1]).toContain('# Tells what it found.\n- apiGroups: [spotalis.io]\n');
  });

  it('name the only object that they are about', () => {
    const right = { why: 'One.', group: '', resources: ['configmaps'], name: 'one', verbs: ['get'] };
    const rights = { controller: {}, webhook: { namespace: [right] } };
    const [[, text]] = rightsFiles([{ name: 'toy', rights }]);
    expect(parse(text)).toEqual([
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['one'], verbs: ['get'] },
    ]);
  });
});
