import { expect, it } from '@jest/globals';
import { Deadline } from './deadline.ts';
import { readReview } from '../review/request.ts';
import { managedAdmission, managedWeb } from '../testing/admission.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { openShop, podOf, reviewOf } from '../testing/shop.ts';

/** One admission, with `during` in the middle of it; what it answered, and what it took in the ledger. */
async function admitted(readOnly: () => boolean, during: () => void) {
  const resolve = async () => {
    during();
    return managedWeb;
  };
  const { handler, ledger } = managedAdmission({ workloads: { resolve }, readOnly });
  const shop = openShop(new FakeApi());
  const review = readReview(reviewOf('u', podOf(shop)));
  if (review.kind !== 'request') throw new Error(`a review that is ${review.kind}`);
  const deadline = new Deadline(5_000);
  const result = await handler.admit(review.request, deadline);
  deadline.end();
  const taken = await ledger.entries({ workloadUid: 'd', replicaSetUid: shop.replicaSet.metadata.uid });
  return { result, taken };
}

it.each([true, false])(
  'writes on the pod what it took in the ledger, both or nothing, whatever read-only mode becomes meanwhile (%s)',
  async (before) => {
    let readOnly = before;
    const { result, taken } = await admitted(
      () => readOnly,
      () => {
        readOnly = !before;
      },
    );
    expect(result.readOnly).toBe(before);
    expect(result.operations.length > 0).toBe(!before);
    expect(taken).toHaveLength(before ? 0 : 1);
  },
);
