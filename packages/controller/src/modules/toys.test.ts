import { describe, expect, it } from '@jest/globals';
import { Store } from '@spotalis/kube';
import { stage } from '../testing/rebalancing.ts';
import { aRunner } from '../testing/runner.ts';
import { toys } from '../testing/toys.ts';

/** The module on the kernel that a distribution with two moves to make runs on, too. */
function beside(isAvailable = () => true) {
  const staged = stage();
  const { cluster, executor } = staged;
  const store = new Store<never>();
  const module = toys.open({ cluster, storeOf: () => store } as never);
  const runner = aRunner(module, { name: 'toys', executor, isAvailable });
  const metadata = { name: 'wish', namespace: 'shop', uid: 'wish-uid', resourceVersion: '1' };
  store.upsert({ metadata, pod: 'a' } as never, true);
  return { ...staged, wish: () => runner.look('shop/wish'), said: () => module.state?.() };
}

describe('a module that knows nothing of the others', () => {
  it('waits for a move of the same workload, says so, is woken, and has its pod evicted', async () => {
    const { look, wish, said, asked, replace, woken, shown } = beside();
    await look();
    const [moved] = asked;
    expect(moved).not.toBe('a');
    await wish();
    expect(said()).toEqual({
      toys: { 'shop/wish': expect.stringContaining('"WorkloadBusy","by":"distribution"') },
    });
    expect(asked).toEqual([moved]);
    replace(moved!, 'e', 'on-demand');
    await look(5_000);
    expect(woken).toEqual(['toys/shop/wish']);
    await wish();
    expect(asked).toEqual([moved, 'a']);
    expect(said()).toEqual({ toys: { 'shop/wish': 'sent' } });
    await look(5_000);
    expect(shown()).toMatchObject({ reason: 'WorkloadBusy', text: expect.stringContaining('toys') });
  });

  it('asks for nothing once the pod is gone, and says nothing more', async () => {
    const { cluster, wish, look, said, asked } = beside();
    await look();
    await wish();
    cluster.pods.remove('shop/a');
    await wish();
    expect(said()).toEqual({ toys: {} });
    expect(asked).toHaveLength(1);
  });

  it('decides nothing while it cannot read its own resources, and nobody waits for it', async () => {
    const { look, wish, said, asked } = beside(() => false);
    expect(await wish()).toBeUndefined();
    expect(said()).toEqual({ toys: {} });
    await look();
    expect(asked).toHaveLength(1);
  });
});
