import { describe, expect, it } from '@jest/globals';
import { podsOf, type Scene, surveyOf } from '../testing/scene.ts';
import { apply, commandsOf, disabling, enabling } from './change.ts';

const pods = podsOf(7, 3, { spotPercentage: 70, minOnDemand: 2 });
const numbers = { 'spotalis.io/spot-percentage': '70' };

async function commandsFor(scene: Partial<Scene>, annotations: Readonly<Record<string, string>> = {}) {
  const survey = await surveyOf({ pods, ...scene });
  return enabling(survey, survey.workloads[0]!, annotations).flatMap(commandsOf);
}

describe('enabling a workload', () => {
  it('writes the numbers, the label, and last the label of its namespace', async () => {
    expect(await commandsFor({ labels: {}, namespaceLabels: {} }, numbers)).toEqual([
      'kubectl annotate deployment web -n shop --overwrite spotalis.io/spot-percentage=70',
      'kubectl label deployment web -n shop --overwrite spotalis.io/enabled=true',
      'kubectl label namespace shop --overwrite spotalis.io/enabled=true',
    ]);
  });

  it('writes only what is missing', async () => {
    expect(await commandsFor({})).toEqual([]);
    expect(await commandsFor({}, numbers)).toHaveLength(1);
    expect(await commandsFor({ namespaceLabels: {} })).toEqual([
      'kubectl label namespace shop --overwrite spotalis.io/enabled=true',
    ]);
  });
});

describe('disabling a workload', () => {
  it('takes its label away and nothing else', async () => {
    const { workloads } = await surveyOf({ pods });
    expect(disabling(workloads[0]!).flatMap(commandsOf)).toEqual([
      'kubectl label deployment web -n shop --overwrite spotalis.io/enabled-',
    ]);
    const { workloads: unlabelled } = await surveyOf({ pods, labels: {} });
    expect(disabling(unlabelled[0]!)).toEqual([]);
  });

  it('is a merge patch of the metadata, which a dry run only tries', async () => {
    const patches: unknown[] = [];
    const client = {
      mergePatch: (...patch: unknown[]) => {
        patches.push(patch.slice(1));
        return Promise.resolve();
      },
    } as never;
    const { workloads } = await surveyOf({ pods });
    await apply(client, disabling(workloads[0]!), true);
    expect(patches).toEqual([
      [
        { namespace: 'shop', name: 'web' },
        { metadata: { labels: { 'spotalis.io/enabled': null }, annotations: {} } },
        { fieldManager: 'kubectl-spotalis', dryRun: true },
      ],
    ]);
  });
});
