import { describe, expect, it } from '@jest/globals';
import { readReview } from '../review/request.ts';
import { managedAdmission, managedWeb } from '../testing/admission.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { openShop, podOf, reviewOf } from '../testing/shop.ts';
import { Chain } from './chain.ts';
import { Deadline } from './deadline.ts';
import type { Step, StepContext, StepResult } from './step.ts';

const shop = openShop(new FakeApi());

function requestOf(pod: object) {
  const review = readReview(reviewOf('u', pod));
  if (review.kind !== 'request') throw new Error(`a review that is ${review.kind}`);
  return review.request;
}

const { pod } = requestOf(podOf(shop));
if (pod === undefined) throw new Error('a pod that cannot be read');

const context: StepContext = {
  requestUid: 'u',
  namespace: 'shop',
  owner: { kind: 'ReplicaSet', name: 'web-1', uid: 'rs' },
  managed: managedWeb,
  dryRun: false,
};

const never = new Promise<never>(() => undefined);

/** A step that writes one annotation, and remembers what was undone. */
class Annotate implements Step<string> {
  readonly writes: readonly string[];
  undone = 0;
  readonly name: string;
  readonly #decide: (usual: StepResult<string>, deadline: Deadline) => Promise<StepResult<string>>;

  constructor(
    name: string,
    decide: (usual: StepResult<string>, deadline: Deadline) => Promise<StepResult<string>> = async (usual) =>
      usual,
  ) {
    this.name = name;
    this.writes = [`/metadata/annotations/${name}`];
    this.#decide = decide;
  }

  decide(_pod: unknown, _context: unknown, deadline: Deadline): Promise<StepResult<string>> {
    return this.#decide(
      {
        operations: [{ op: 'add', path: '/metadata/annotations', value: { [this.name]: 'yes' } }],
        warnings: [`warning of ${this.name}`],
        record: this.name,
        undo: async () => {
          this.undone += 1;
        },
      },
      deadline,
    );
  }
}

async function run(steps: readonly Step<string>[], budgetMs = 60_000) {
  const deadline = new Deadline(budgetMs);
  try {
    return await new Chain(steps).run(pod as NonNullable<typeof pod>, context, deadline);
  } finally {
    deadline.end();
  }
}

describe('a chain of steps', () => {
  it('makes one patch of what all decide, in their order', async () => {
    const result = await run([new Annotate('a'), new Annotate('b')]);
    expect(result.operations).toEqual([
      { op: 'add', path: '/metadata/annotations', value: { a: 'yes' } },
      { op: 'add', path: '/metadata/annotations/b', value: 'yes' },
    ]);
    expect(result.warnings).toEqual(['warning of a', 'warning of b']);
    expect(result.records).toEqual(['a', 'b']);
    expect(result.leftOut).toEqual([]);
  });

  it('has no two steps that write one field', () => {
    const one = new Annotate('a');
    const same: Step<string> = { name: 'other', writes: one.writes, decide: async () => never };
    const below: Step<string> = {
      name: 'below',
      writes: ['/metadata/annotations/a/b'],
      decide: async () => never,
    };
    const above: Step<string> = {
      name: 'above',
      writes: ['/metadata/annotations'],
      decide: async () => never,
    };
    const beside: Step<string> = {
      name: 'beside',
      writes: ['/metadata/annotations/ab'],
      decide: async () => never,
    };
    for (const other of [same, below, above]) {
      expect(() => new Chain([one, other])).toThrow(`the steps a and ${other.name} both write`);
      expect(() => new Chain([other, one])).toThrow(`the steps ${other.name} and a both write`);
    }
    expect(() => new Chain([one, one])).toThrow('the steps a and a both write');
    expect(() => new Chain([one, beside])).not.toThrow();
  });

  it('undoes all that stand when the answer does not get through', async () => {
    const steps = [new Annotate('a'), new Annotate('b')];
    const { undo } = await run(steps);
    await undo();
    expect(steps.map(({ undone }) => undone)).toEqual([1, 1]);
  });

  it('leaves out a step that fails', async () => {
    const error = new Error('broken');
    const broken = new Annotate('broken', async () => {
      throw error;
    });
    const result = await run([broken, new Annotate('b')]);
    expect(result.records).toEqual(['b']);
    expect(result.leftOut).toEqual([{ step: 'broken', error }]);
    expect(result.warnings).toEqual([
      'warning of b',
      expect.stringContaining('broken left this pod unchanged'),
    ]);
  });

  it('leaves out a step that throws before it waits for anything', async () => {
    const broken: Step<string> = {
      name: 'broken',
      writes: [],
      decide: () => {
        throw new Error('broken');
      },
    };
    expect((await run([broken, new Annotate('b')])).records).toEqual(['b']);
  });

  it('leaves out a step that writes a field which it did not declare, and undoes it', async () => {
    const greedy = new Annotate('greedy', async (usual) => ({
      ...usual,
      operations: [...usual.operations, { op: 'remove', path: '/spec/priority' }],
    }));
    const result = await run([greedy, new Annotate('b')]);
    expect(result.operations).toEqual([{ op: 'add', path: '/metadata/annotations', value: { b: 'yes' } }]);
    expect(result.leftOut).toEqual([
      { step: 'greedy', error: expect.objectContaining({ code: 'UNDECLARED_FIELD' }) },
    ]);
    expect(greedy.undone).toBe(1);
  });

  it('leaves out a step that is late, and undoes what it takes afterwards', async () => {
    let decide: () => void = () => undefined;
    const decided = new Promise<void>((resolve) => {
      decide = resolve;
    });
    const late = new Annotate('late', async (usual) => {
      await decided;
      return usual;
    });
    const prompt = new Annotate('prompt');
    const result = await run([late, prompt], 20);
    expect(result.records).toEqual(['prompt']);
    expect(result.leftOut).toEqual([
      { step: 'late', error: expect.objectContaining({ code: 'DECISION_TIMEOUT' }) },
    ]);
    expect(late.undone).toBe(0);
    decide();
    await new Promise((resolve) => setImmediate(resolve));
    expect([late.undone, prompt.undone]).toEqual([1, 0]);
  });

  it('keeps a step that answers from what it knows when its time is over', async () => {
    const patient = new Annotate('patient', async (usual, deadline) =>
      deadline.within<StepResult<string>>(never).catch(() => usual),
    );
    const result = await run([patient], 20);
    expect(result.records).toEqual(['patient']);
    expect(result.leftOut).toEqual([]);
  });

  it('fails when no step stands', async () => {
    const broken = new Annotate('broken', async () => {
      throw new TypeError('unexpected');
    });
    await expect(run([broken])).rejects.toThrow('unexpected');
  });
});

/** As right-sizing will be: a look into memory. */
const rightsizing: Step<{ readonly cpu: string }> = {
  name: 'rightsizing',
  writes: ['/spec/containers/0/resources', '/metadata/annotations/spotalis.io~1sized'],
  decide: async ({ metadata }, { managed }) => ({
    operations: [
      { op: 'add', path: '/spec/containers/0/resources', value: { requests: { cpu: '50m' } } },
      metadata.annotations === undefined
        ? { op: 'add', path: '/metadata/annotations', value: { 'spotalis.io/sized': 'true' } }
        : { op: 'add', path: '/metadata/annotations/spotalis.io~1sized', value: 'true' },
    ],
    warnings: managed.policy.kind === 'none' ? ['no policy'] : [],
    record: { cpu: '50m' },
    undo: async () => undefined,
  }),
};

describe('a step after distribution', () => {
  async function admitted(object: object, steps = [rightsizing]) {
    const { handler, ledger } = managedAdmission({}, steps);
    const deadline = new Deadline(60_000);
    const result = await handler.admit(requestOf(object), deadline);
    deadline.end();
    return { result, ledger };
  }

  it('adds its fields to the same patch, for pods without annotations and with some', async () => {
    for (const metadata of [{}, { annotations: { own: 'x' } }]) {
      const { result } = await admitted(podOf(shop, { metadata }));
      const paths = result.operations.map(({ path }) => path);
      expect(new Set(paths).size).toBe(paths.length);
      expect(paths).toContain('/spec/nodeSelector');
      expect(paths).toContain('/spec/containers/0/resources');
      expect(paths).toContain('/metadata/annotations/spotalis.io~1sized');
      expect(JSON.stringify(result.operations)).toContain('capacity-type');
      expect(result.records).toEqual([expect.objectContaining({ result: 'steered' }), { cpu: '50m' }]);
    }
  });

  it('is left out when it fails, while the place of the pod stands', async () => {
    const broken = { ...rightsizing, decide: async () => Promise.reject(new Error('broken')) };
    const { result, ledger } = await admitted(podOf(shop), [broken]);
    expect(result.records).toEqual([expect.objectContaining({ result: 'steered' })]);
    const revision = { workloadUid: 'd', replicaSetUid: shop.replicaSet.metadata.uid };
    expect(await ledger.entries(revision)).toHaveLength(1);
    await result.undo();
    expect(await ledger.entries(revision)).toHaveLength(0);
  });
});
