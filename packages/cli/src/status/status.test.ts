import { describe, expect, it } from '@jest/globals';
import { plain } from '@spotalis/units';
import { noNews } from '../cluster/droughts.ts';
import { ask, drought, NOON, podsOf, surveyOf } from '../testing/scene.ts';
import { statusRows } from './row.ts';
import { droughtNote, statusTable } from './status.ts';

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

  it('says of a drought what the controller tells of it', async () => {
    const scene = {
      pods: podsOf(0, 3, usual),
      replicas: 3,
      annotations: ask(70, 1),
      noSpot: true,
      droughts: drought(),
    };
    const survey = await surveyOf(scene);
    const rows = statusRows(survey, 'shop', NOON);
    expect(rows).toMatchObject([
      {
        state: 'InDrought',
        why: 'Held for lack of spot capacity, which is tried again at 2026-04-15T12:02:00Z: 0 of 3 pods are on spot and 2 should be.',
        drought: { state: 'open', since: '2026-04-15T11:57:00.000Z', nextProbe: '2026-04-15T12:02:00.000Z' },
      },
    ]);
    expect(statusTable(rows, 'table', { style: plain, width: undefined })).toMatch(
      /-2 +InDrought \(spot dry\)$/,
    );
    expect(droughtNote(rows, survey, NOON)).toBe(
      'No spot capacity for 1 workload, for 3m at the longest, as spotalis-controller-1 told 60s ago.',
    );
  });

  it('says that spot is being tried, and of no drought where nobody tells of one', async () => {
    const droughts = drought({ state: 'half-open', nextProbeAtMs: null });
    const survey = await surveyOf({ pods: podsOf(7, 3, usual), droughts });
    const rows = statusRows(survey, 'shop', NOON);
    expect(statusTable(rows, 'table', { style: plain, width: undefined })).toMatch(
      /Balanced \(spot tried again\)$/,
    );
    const calm = await surveyOf({ pods: podsOf(7, 3, usual), droughts: noNews });
    expect(statusRows(calm, 'shop', NOON)).toMatchObject([{ drought: null }]);
    expect(droughtNote(statusRows(calm, 'shop', NOON), calm, NOON)).toBeNull();
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
