import { describe, expect, it } from '@jest/globals';
import { ApiError } from '@spotalis/kube';
import { drought, NOON, surveyOf, podsOf } from '../testing/scene.ts';
import { fetchDroughts, newsOf } from './droughts.ts';

const clientOf = (list: () => Promise<unknown>) => ({ list }) as never;
const map = (text?: string) => ({
  metadata: { namespace: 'spotalis-system', name: 'spotalis-droughts' },
  ...(text !== undefined && { data: { 'droughts.json': text } }),
});
const pods = podsOf(7, 3, { spotPercentage: 70, minOnDemand: 2 });

describe('what is heard of droughts', () => {
  it('is asked for by name, wherever the installation is', async () => {
    const asked: unknown[] = [];
    const news = await fetchDroughts({
      list: (_of: object, query: object) => {
        asked.push(query);
        return Promise.resolve({ items: [map()] });
      },
    } as never);
    expect(asked).toEqual([{ fieldSelector: 'metadata.name=spotalis-droughts' }]);
    expect(news).toMatchObject({ isKnown: true, isMissing: false, told: [], notes: [] });
  });

  it('is nothing where it may not be read, and that is said', async () => {
    const forbidden = new ApiError({ status: 403, body: {}, request: 'GET' });
    const news = await fetchDroughts(clientOf(() => Promise.reject(forbidden)));
    expect(news).toMatchObject({ isKnown: false, isMissing: false });
    expect(news.notes).toEqual(['configmaps may not be read: droughts are known by their substitutes only']);
    const survey = await surveyOf({ pods, droughts: news });
    expect(survey.droughtOf(survey.workloads[0]!)).toEqual({ kind: 'unwatched' });
    expect(survey.notes).toEqual(news.notes);
  });

  it('is nothing where it is of another version, and that is said', () => {
    const news = newsOf([{ object: 'ConfigMap a/spotalis-droughts', text: '{"version":7}' }]);
    expect(news.isKnown).toBe(false);
    expect(news.notes).toEqual([
      'ConfigMap a/spotalis-droughts is not understood (its version is 7, and 1 is understood): droughts are known by their substitutes only',
    ]);
  });

  it('fails with what is no matter of rights', async () => {
    const broken = new ApiError({ status: 500, body: {}, request: 'GET' });
    await expect(fetchDroughts(clientOf(() => Promise.reject(broken)))).rejects.toBe(broken);
  });

  it('is of the workload of that UID, and of its placement', async () => {
    const told = drought({ poolIsOpen: true });
    const own = await surveyOf({ pods, droughts: told });
    expect(own.droughtOf(own.workloads[0]!)).toMatchObject({
      kind: 'told',
      poolIsOpen: true,
      report: { state: 'open', sinceMs: NOON - 180_000 },
    });
    const others = drought({ uid: 'other', poolIsOpen: true });
    const other = await surveyOf({ pods, droughts: others });
    expect(other.droughtOf(other.workloads[0]!)).toEqual({ kind: 'told', report: null, poolIsOpen: true });
    const elsewhere = await surveyOf({
      pods,
      droughts: others,
      templateSpec: { nodeSelector: { zone: 'b' } },
    });
    expect(elsewhere.droughtOf(elsewhere.workloads[0]!)).toMatchObject({ poolIsOpen: false });
  });
});
