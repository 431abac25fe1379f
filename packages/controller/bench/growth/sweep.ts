import { type PlaceholderShape, type PlaceholderSubject, prunePod } from '@spotalis/core';
import { Metrics } from '@spotalis/runtime';
import { placeholderMetrics } from '../../src/kernel/proof/metrics.ts';
import { Placeholders } from '../../src/kernel/proof/placeholders.ts';
import { aCluster, silent } from '../../src/testing/objects.ts';

const OURS = 'spotalis-system';
const SWEEPS = 3;
const shape: PlaceholderShape = {
  nodeSelector: { capacity: 'spot' },
  nodeTerms: [],
  antiAffinity: [],
  tolerations: [],
  requests: { cpu: 100 },
};

interface Manifest {
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

/** CPU of a sweep in which so many workloads ask for a placeholder, ten of which may be there. */
export async function sweepWork(
  wishes: number,
): Promise<{ readonly firstMs: number; readonly nextMs: number }> {
  const cluster = aCluster();
  let nowMs = 1_000_000;
  const placeholders = new Placeholders({
    cluster,
    client: {
      create: (_of: unknown, _place: unknown, object: object) => {
        const { metadata, spec } = object as Manifest;
        const creationTimestamp = new Date(nowMs).toISOString();
        const uid = `${metadata.name}-pod`;
        const raw = { metadata: { ...metadata, uid, resourceVersion: '1', creationTimestamp }, spec };
        const pod = prunePod(raw);
        if (pod !== undefined) cluster.pods.upsert(pod, false);
        return Promise.resolve({} as never);
      },
      delete: () => Promise.resolve(),
    },
    namespace: OURS,
    backoff: () => ({ initialMs: 60_000, maxMs: 1_800_000 }),
    settings: {
      enabled: true,
      image: 'pause',
      priorityClass: 'low',
      max: 10,
      waitMs: 300_000,
      ageMs: 900_000,
      wishMs: 90_000,
    },
    owner: () => null,
    mayWrite: () => true,
    isReadOnly: () => false,
    metrics: placeholderMetrics(new Metrics()),
    logger: silent,
    now: () => nowMs,
  });
  const leave = placeholders.lead();
  nowMs += 5_000;
  const subjects = Array.from({ length: wishes }, (_, index): PlaceholderSubject => {
    const name = `w${index}`;
    return { kind: 'Deployment', namespace: 'shop', name, uid: `${name}-uid`, type: 'spot' };
  });
  const sweep = async (): Promise<number> => {
    const before = process.cpuUsage();
    for (const subject of subjects) placeholders.want(subject, shape, 'move');
    await new Promise((resolve) => void setImmediate(resolve));
    const { user, system } = process.cpuUsage(before);
    nowMs += 1_000;
    return (user + system) / 1_000;
  };
  const firstMs = await sweep();
  const later: number[] = [];
  for (let turn = 0; turn < SWEEPS; turn++) later.push(await sweep());
  leave();
  return { firstMs, nextMs: later.toSorted((a, b) => a - b)[Math.floor(SWEEPS / 2)] ?? 0 };
}
