import { expect, it } from '@jest/globals';
import { ApiError, type Lease } from '@spotalis/kube';
import { silent } from '../../testing/objects.ts';
import { Leadership } from './leadership.ts';

it('a replica that wins the Lease while it stops begins no work, and gives it up at the end', async () => {
  const holders: (string | undefined)[] = [];
  let won: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (won = resolve));
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const written = (spec: Lease['spec']): Lease => {
    holders.push(spec?.holderIdentity);
    const metadata = {
      name: 'leader',
      namespace: 'system',
      uid: 'uid',
      resourceVersion: `${holders.length}`,
    };
    return { metadata, ...(spec && { spec }) };
  };
  const client = {
    get: () => Promise.reject(new ApiError({ status: 404, body: {}, request: 'GET /x' })),
    create: async (_of: unknown, _where: unknown, { spec }: Pick<Lease, 'spec'>) => {
      won();
      await answered;
      return written(spec);
    },
    mergePatch: async (_of: unknown, _where: unknown, { spec }: Pick<Lease, 'spec'>) => written(spec),
  };
  const leadership = new Leadership({
    enabled: true,
    client: client as never,
    namespace: 'system',
    leaseName: 'leader',
    identity: 'me',
    timing: { leaseDurationMs: 30_000, renewDeadlineMs: 20_000, retryPeriodMs: 2_000 },
    onChange: () => undefined,
    logger: silent,
  });
  let works = 0;
  leadership.does({ start: () => void works++, stop: async () => undefined });
  leadership.start({ signal: new AbortController().signal, fail: () => undefined });
  await asked;
  await leadership.stop();
  answer();
  await leadership.release();
  expect(holders).toEqual(['me', '']);
  expect({ works, isLeader: leadership.isLeader }).toEqual({ works: 0, isLeader: false });
});
