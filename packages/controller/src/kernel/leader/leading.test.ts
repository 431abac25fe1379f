import { describe, expect, it } from '@jest/globals';
import { runWorkers, WorkQueue } from '@spotalis/kube';
import { aManagedCluster } from '../../testing/objects.ts';
import { Workers } from '../workers.ts';
import { Leading } from './leading.ts';

const subject = 'Deployment/shop/web';
const settle = () => new Promise((resolve) => setImmediate(resolve));

function leadingOf(duties: readonly (() => () => void | Promise<void>)[] = []) {
  const queue = new WorkQueue();
  const looks: string[] = [];
  const leading = new Leading({
    cluster: aManagedCluster(),
    workers: new Workers(queue, (reconcile) => runWorkers({ queue, concurrency: 1, reconcile })),
    reconciler: {
      reconcile(key: string) {
        looks.push(key);
        return Promise.resolve(undefined);
      },
    },
    drifting: () => [],
    duties,
  });
  return { leading, looks };
}

describe('leading', () => {
  it('looks at everything when it begins, and again at one workload when that is asked for', async () => {
    const { leading, looks } = leadingOf();
    leading.lookAgain(subject, 0);
    await settle();
    expect(looks).toEqual([]);
    leading.start();
    await settle();
    expect(looks.splice(0)).toEqual([subject, 'Namespace/shop']);
    leading.lookAgain(subject, 0);
    await settle();
    expect(looks.splice(0)).toEqual([subject]);
    await leading.stop();
    leading.lookAgain(subject, 0);
    await settle();
    expect(looks).toEqual([]);
  });

  it('ends when all that began with it has come to its end', async () => {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const { leading } = leadingOf([() => () => undefined, () => () => ended]);
    leading.start();
    const order: string[] = [];
    const stopped = leading.stop().then(() => order.push('stopped'));
    await settle();
    order.push('ended');
    end();
    await stopped;
    expect(order).toEqual(['ended', 'stopped']);
  });
});
