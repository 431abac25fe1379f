import { describe, expect, it } from '@jest/globals';
import { pruneClaim, pruneVolume, pruneWorkload } from '@spotalis/core';
import { LedgerUnavailable, type VolumeReach } from '@spotalis/ledger';
import { Shapes } from '../droughts/shapes.ts';
import { aCluster, aDeployment, aNode } from '../../../testing/objects.ts';
import { Reaches } from './reaches.ts';
import { Rooms } from '../../../kernel/cluster/rooms.ts';

let version = 0;
const metadata = (name: string) => ({ name, uid: `${name}-uid`, resourceVersion: String(++version) });
const inShop = (name: string) => ({ ...metadata(name), namespace: 'shop' });
const statefulSet = pruneWorkload('StatefulSet')({
  metadata: inShop('db'),
  spec: { replicas: 3, volumeClaimTemplates: [{ metadata: { name: 'data' } }] },
});

function stage() {
  const clock = { nowMs: 0 };
  const cluster = aCluster();
  const shapes = new Shapes(cluster, () => clock.nowMs);
  const rooms = new Rooms(cluster);
  cluster.nodes.upsert(aNode('spot-1', 'spot'), true);
  cluster.nodes.upsert(aNode('od-1', 'on-demand'), true);
  const told: (readonly [number, VolumeReach][])[] = [];
  const script = { isDown: false, mayWrite: true };
  const reaches = new Reaches({
    cluster,
    ledger: {
      setReach: (_uid, reach) => {
        if (script.isDown) return Promise.reject(new LedgerUnavailable('LEDGER_TIMEOUT', 'late'));
        told.push([...reach]);
        return Promise.resolve();
      },
    },
    shapes,
    rooms,
    mayWrite: () => script.mayWrite,
    now: () => clock.nowMs,
  });
  /** `type`: of the nodes that reach the volume. */
  const bind = (ordinal: number, type: string | undefined): void => {
    const name = `data-db-${ordinal}`;
    cluster.claims.upsert(pruneClaim({ metadata: inShop(name), spec: { volumeName: name } }), true);
    const terms = (value: string) => [
      { matchExpressions: [{ key: 'capacity', operator: 'In' as const, values: [value] }] },
    ];
    const nodeSelectorTerms = type === undefined ? [] : terms(type);
    cluster.volumes.upsert(
      pruneVolume({ metadata: metadata(name), spec: { nodeAffinity: { required: { nodeSelectorTerms } } } }),
      true,
    );
  };
  return { clock, reaches, told, script, bind };
}

describe('what the ledger is told of volumes', () => {
  it('is each ordinal whose volume reaches one type only, or nobody knows where', async () => {
    const { reaches, told, bind } = stage();
    bind(0, 'spot');
    bind(1, undefined);
    bind(2, 'on-demand');
    bind(6, 'elsewhere');
    await reaches.tell(statefulSet);
    expect(told).toEqual([
      [
        [0, 'spot'],
        [2, 'on-demand'],
        [6, 'unknown'],
      ],
    ]);
  });

  it('is told once, again when it changes, and again after a while', async () => {
    const { reaches, told, bind, clock } = stage();
    await reaches.tell(statefulSet);
    expect(told).toEqual([]);
    bind(0, 'spot');
    await reaches.tell(statefulSet);
    await reaches.tell(statefulSet);
    expect(told).toHaveLength(1);
    bind(0, undefined);
    await reaches.tell(statefulSet);
    expect(told).toEqual([[[0, 'spot']], []]);
    clock.nowMs = 60_000;
    await reaches.tell(statefulSet);
    expect(told).toHaveLength(3);
  });

  it('is told later when the ledger is out of reach, and never by who may not write', async () => {
    const { reaches, told, bind, script } = stage();
    bind(0, 'spot');
    script.isDown = true;
    await reaches.tell(statefulSet);
    Object.assign(script, { isDown: false, mayWrite: false });
    await reaches.tell(statefulSet);
    expect(told).toEqual([]);
    script.mayWrite = true;
    await reaches.tell(statefulSet);
    expect(told).toHaveLength(1);
  });

  it('is told anew of a StatefulSet that was forgotten and is back', async () => {
    const { reaches, told, bind } = stage();
    bind(0, 'spot');
    await reaches.tell(statefulSet);
    reaches.forget(statefulSet.metadata.uid);
    await reaches.tell(statefulSet);
    expect(told).toHaveLength(2);
  });

  it('is nothing of a Deployment', async () => {
    const { reaches, told, bind } = stage();
    bind(0, 'spot');
    await reaches.tell(aDeployment());
    expect(told).toEqual([]);
  });
});
