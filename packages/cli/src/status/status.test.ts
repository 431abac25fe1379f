import { describe, expect, it } from '@jest/globals';
import { plain } from '../output/style.ts';
import { ask, NOON, podsOf, surveyOf } from '../testing/scene.ts';
import { statusRows } from './row.ts';
import { statusTable } from './status.ts';

const usual = { spotPercentage: 70, minOnDemand: 2 };

describe('the table of a status', () => {
  it('says what there is of what there should be, and what is done about it', async () => {
    const rows = statusRows(
      await surveyOf({ pods: podsOf(7, 3, usual), annotations: ask(70, 4) }),
      'shop',
      NOON,
    );
    expect(statusTable(rows, 'table', { style: plain, width: undefined })).toBe(
      [
        'NAMESPACE  WORKLOAD        POLICY  REPLICAS  SPOT  ON-DEMAND  DRIFT  STATE',
        'shop       deployment/web  70%/4   10        7/6   3/4        +1     FloorShort',
      ].join('\n'),
    );
  });

  it('cuts the last column at the edge of a terminal, and nothing in a pipe', async () => {
    const rows = statusRows(await surveyOf({ pods: podsOf(7, 3, usual) }), undefined, NOON);
    const narrow = statusTable(rows, 'wide', { style: plain, width: 100 });
    expect(Math.max(...narrow.split('\n').map(({ length }) => length))).toBe(100);
    expect(narrow).toContain('…');
    expect(statusTable(rows, 'wide', { style: plain, width: undefined })).toContain('7 should be.');
  });

  it('counts nothing of a workload with one label of two, but lists it', async () => {
    const rows = statusRows(await surveyOf({ pods: podsOf(7, 3, usual), namespaceLabels: {} }), 'shop', NOON);
    expect(rows).toMatchObject([{ workload: 'deployment/web', pods: null, state: 'Unmanaged' }]);
  });

  it('leaves out other namespaces, and workloads that carry nothing of ours', async () => {
    const plainScene = { pods: podsOf(2, 0, usual), labels: {}, annotations: {} };
    expect(statusRows(await surveyOf(plainScene), 'shop', NOON)).toEqual([]);
    expect(statusRows(await surveyOf({ pods: podsOf(7, 3, usual) }), 'other', NOON)).toEqual([]);
  });
});
