import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { FakeApi } from '../testing/fake-api.ts';
import { type RunningService, startService } from '../testing/service.ts';
import { admissionPath } from './admissions.ts';

interface Recorded {
  readonly request: {
    readonly uid: string;
    readonly object: {
      readonly metadata: {
        readonly annotations?: Readonly<Record<string, string>>;
        readonly ownerReferences: readonly { readonly name: string; readonly uid: string }[];
      };
      readonly spec: object;
    };
  };
}

interface Written {
  readonly annotations: Readonly<Record<string, string>>;
  readonly nodeSelector: Readonly<Record<string, string>>;
}

/** As a real API server sent it. */
function recorded(name: string): Recorded {
  return JSON.parse(readFileSync(new URL(`../review/fixtures/${name}.json`, import.meta.url), 'utf8'));
}

const optedIn = { 'spotalis.io/enabled': 'true' };
const annotations = { 'spotalis.io/spot-percentage': '70', 'spotalis.io/min-on-demand': '1' };

let api: FakeApi;
let service: RunningService;

beforeEach(async () => {
  api = new FakeApi();
  const url = await api.start();
  api.put({ kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'shop', labels: optedIn } });
  putDeploymentOf(recorded('replicaset-pod'), 'web');
  putDeploymentOf(recorded('reinvocation'), 'twice');
  const { name, uid } = ownerOf(recorded('statefulset-pod'));
  api.put({
    kind: 'StatefulSet',
    apiVersion: 'apps/v1',
    metadata: { name, uid, namespace: 'shop', labels: optedIn, annotations },
    spec: { replicas: 5 },
  });
  service = await startService(url);
});

afterEach(async () => {
  await service.stop();
  await api.stop();
});

function ownerOf({ request: { object } }: Recorded): { readonly name: string; readonly uid: string } {
  const [owner] = object.metadata.ownerReferences;
  if (owner === undefined) throw new Error('recorded without an owner');
  return owner;
}

function putDeploymentOf(review: Recorded, name: string): void {
  const deployment = api.put({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name, namespace: 'shop', labels: optedIn, annotations },
    spec: { replicas: 5 },
  });
  const reference = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name,
    uid: deployment.metadata.uid,
    controller: true,
  };
  api.put({
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: { ...ownerOf(review), namespace: 'shop', ownerReferences: [reference] },
    spec: { replicas: 5 },
    status: { observedGeneration: 1, replicas: 0 },
  });
}

/** What the answer writes on the pod; undefined without a patch. Whatever it is, it is for this review and allows. */
async function replay(review: Recorded): Promise<Written | undefined> {
  const answer = await request(service.url).post(`${admissionPath}?timeout=2s`).ca(service.ca).send(review);
  expect(answer.status).toBe(200);
  const { uid, allowed, patch, warnings } = answer.body.response;
  expect({ uid, allowed, warnings }).toEqual({ uid: review.request.uid, allowed: true, warnings: undefined });
  if (patch === undefined) return undefined;
  const operations: readonly { path: string; value: Readonly<Record<string, string>> }[] = JSON.parse(
    Buffer.from(patch, 'base64').toString(),
  );
  const valueAt = (path: string) => operations.find((operation) => operation.path === path)?.value ?? {};
  return { annotations: valueAt('/metadata/annotations'), nodeSelector: valueAt('/spec/nodeSelector') };
}

/** The same pod in another call: `change` is merged into its request. */
function calledAgain(review: Recorded, change: object): Recorded {
  return { ...review, request: { ...review.request, ...change } };
}

const typeOf = (written: Written | undefined): string | undefined =>
  written?.annotations['spotalis.io/capacity-type'];

describe('a review of a real API server', () => {
  it('of a pod of a Deployment gets its place', async () => {
    const review = recorded('replicaset-pod');
    const { uid } = review.request;
    expect(await replay(review)).toEqual({
      annotations: {
        'spotalis.io/capacity-type': 'on-demand',
        'spotalis.io/policy': '70/1',
        'spotalis.io/rank': '0',
        'spotalis.io/reservation': uid,
        'controller.kubernetes.io/pod-deletion-cost': '0',
      },
      nodeSelector: { 'karpenter.sh/capacity-type': 'on-demand' },
    });
    expect(typeOf(await replay(calledAgain(review, { uid: 'the-next-pod' })))).toBe('spot');
  });

  it('of a pod of a StatefulSet gets the type of its number', async () => {
    const written = await replay(recorded('statefulset-pod'));
    expect(written?.annotations).toMatchObject({
      'spotalis.io/capacity-type': 'spot',
      'spotalis.io/policy': '70/1',
    });
    expect(written?.annotations).not.toHaveProperty(['spotalis.io/reservation']);
    expect(written?.nodeSelector).toEqual({ 'karpenter.sh/capacity-type': 'spot' });
  });

  it('of a dry run is shown what would be, and leaves no trace', async () => {
    const dry = recorded('dry-run');
    expect(typeOf(await replay(dry))).toBe('on-demand');
    expect(typeOf(await replay(calledAgain(dry, { uid: 'another-dry-run' })))).toBe('on-demand');
    expect(typeOf(await replay(recorded('replicaset-pod')))).toBe('on-demand');
    expect(typeOf(await replay(dry))).toBe('spot');
  });

  it('of a reinvocation gets the decision of the first call again, and no second place', async () => {
    const again = recorded('reinvocation');
    const { metadata, spec } = again.request.object;
    const token = metadata.annotations?.['spotalis.io/reservation'];
    // The first call was for the same pod without what its answer wrote.
    const bare = {
      ...again.request.object,
      metadata: { ...metadata, annotations: undefined },
      spec: { ...spec, nodeSelector: undefined },
    };
    const first = await replay(calledAgain(again, { uid: token, object: bare }));
    expect(first?.annotations).toEqual(metadata.annotations);
    // The pod has all of it already.
    expect(await replay(again)).toBeUndefined();
    expect(service.log.filter(({ decision }) => decision !== undefined)).toEqual([
      expect.objectContaining({ requestId: token, decision: 'on-demand', reason: 'ledger' }),
      expect.objectContaining({ requestId: again.request.uid, decision: 'on-demand', reason: 'replay' }),
    ]);
    const next = calledAgain(again, { uid: 'the-next-pod', object: bare });
    expect((await replay(next))?.annotations).toMatchObject({
      'spotalis.io/capacity-type': 'spot',
      'spotalis.io/rank': '0',
    });
  });
});
