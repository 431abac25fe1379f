import { describe, expect, it } from '@jest/globals';
import { array, assert, constant, integer, nat, oneof, property, record } from 'fast-check';
import { type Look, nextStep, shouldServe, type Staged, type StoredLeaf, type Trust } from './rotation.ts';

const runs = Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1_000);
const minuteMs = 60_000;
const lifetimeMs = 600 * minuteMs;
const terms = { settleMs: minuteMs, skewMs: 60 * minuteMs };
const REPLICAS = 3;

interface Replica {
  readonly skewMs: number;
  serving: { readonly authority: Trust; readonly notAfterMs: number } | undefined;
  staged:
    | { readonly authority: Trust; readonly leaf: StoredLeaf; trustedSinceMs: number | undefined }
    | undefined;
  /** What it decided by, before it acts on it. */
  found:
    | {
        readonly secret: number;
        readonly bundle: number;
        readonly look: Look<Trust>;
        readonly atMs: number;
        readonly leafAuthority: Trust | undefined;
      }
    | undefined;
}

/** The cluster as replicas see it: each write counts a version up, each read may be acted on late. */
class World {
  nowMs = 10 * lifetimeMs;
  secret: {
    version: number;
    leaf: (StoredLeaf & { readonly of: Trust }) | undefined;
    authorities: readonly Trust[];
  } = { version: 0, leaf: undefined, authorities: [] };
  bundle: { version: number; authorities: readonly Trust[] } = { version: 0, authorities: [] };
  /** What API servers may still go by: each bundle with the time at which it was replaced. */
  readonly replaced: { readonly authorities: readonly Trust[]; readonly atMs: number }[] = [];
  readonly replicas: Replica[];
  #made = 0;

  constructor(skews: readonly number[]) {
    this.replicas = skews.map((skewMs) => ({
      skewMs,
      serving: undefined,
      staged: undefined,
      found: undefined,
    }));
  }

  look(replica: Replica): void {
    const registered = this.bundle.authorities;
    const staged = replica.staged;
    if (staged !== undefined) {
      const trusted = registered.some(({ fingerprint }) => fingerprint === staged.authority.fingerprint);
      staged.trustedSinceMs = trusted ? (staged.trustedSinceMs ?? this.nowMs) : undefined;
    }
    const { leaf, authorities } = this.secret;
    const known = [...authorities, ...registered];
    const seen = staged && {
      authority: staged.authority,
      leaf: staged.leaf,
      trustedForMs: staged.trustedSinceMs === undefined ? undefined : this.nowMs - staged.trustedSinceMs,
    };
    replica.found = {
      secret: this.secret.version,
      bundle: this.bundle.version,
      atMs: this.nowMs,
      leafAuthority: leaf?.of,
      look: {
        leaf: leaf && {
          ...leaf,
          authority: known.find(({ fingerprint }) => fingerprint === leaf.of.fingerprint)?.fingerprint,
        },
        authorities,
        registered,
        serving: replica.serving !== undefined,
        staged: seen satisfies Staged<Trust> | undefined,
      },
    };
  }

  act(replica: Replica): void {
    const { found } = replica;
    if (found === undefined) return;
    replica.found = undefined;
    const { look } = found;
    if (shouldServe(look) && look.leaf !== undefined && found.leafAuthority !== undefined)
      replica.serving = { authority: found.leafAuthority, notAfterMs: look.leaf.notAfterMs };
    const wallMs = found.atMs + replica.skewMs;
    const step = nextStep(look, terms, wallMs);
    switch (step.kind) {
      case 'wait':
        return;
      case 'discard':
        replica.staged = undefined;
        return;
      case 'issue': {
        const notAfterMs = wallMs + lifetimeMs;
        const authority = { fingerprint: `ca-${this.#made++}`, notAfterMs };
        const leaf = {
          authority: authority.fingerprint,
          notBeforeMs: wallMs - terms.skewMs,
          notAfterMs,
          fits: true,
        };
        replica.staged = { authority, leaf, trustedSinceMs: undefined };
        return;
      }
      case 'store':
      case 'promote': {
        if (found.secret !== this.secret.version) return;
        const { staged } = replica;
        const promoted = step.kind === 'promote' && staged;
        const leaf = promoted ? { ...staged.leaf, of: staged.authority } : this.secret.leaf;
        this.secret = { version: this.secret.version + 1, leaf, authorities: step.authorities };
        if (promoted) replica.staged = undefined;
        return;
      }
      case 'register':
        if (found.bundle === this.bundle.version) this.register(step.authorities);
    }
  }

  register(authorities: readonly Trust[]): void {
    this.replaced.push({ authorities: this.bundle.authorities, atMs: this.nowMs });
    this.bundle = { version: this.bundle.version + 1, authorities };
  }

  empty(withAuthorities: boolean): void {
    const authorities = withAuthorities ? [] : this.secret.authorities;
    this.secret = { version: this.secret.version + 1, leaf: undefined, authorities };
  }

  /** A process that dies forgets, and serves again when it has read the Secret. */
  restart(replica: Replica): void {
    replica.serving = undefined;
    replica.staged = undefined;
    replica.found = undefined;
  }

  /** Every bundle that some API server may go by now and that verifies anybody: before the first none does. */
  views(): readonly (readonly Trust[])[] {
    const recent = this.replaced.filter(({ atMs }) => this.nowMs - atMs < terms.settleMs);
    return [this.bundle, ...recent]
      .map(({ authorities }) => authorities)
      .filter((authorities) => authorities.some(({ notAfterMs }) => notAfterMs > this.nowMs));
  }

  unverified(): readonly string[] {
    return this.replicas.flatMap(({ serving }) => {
      if (serving === undefined || serving.notAfterMs <= this.nowMs) return [];
      const { fingerprint } = serving.authority;
      return this.views().every((view) => view.some((each) => each.fingerprint === fingerprint))
        ? []
        : [fingerprint];
    });
  }

  /** Everybody does all there is to do. */
  settle(): void {
    for (let quiet = 0, round = 0; quiet < 8 && round < 400; round++) {
      this.nowMs += minuteMs / 4;
      const before = this.secret.version + this.bundle.version;
      for (const replica of this.replicas) {
        this.look(replica);
        this.act(replica);
      }
      const atRest = before === this.secret.version + this.bundle.version;
      quiet = atRest && this.replicas.every(({ staged }) => staged === undefined) ? quiet + 1 : 0;
    }
  }
}

const who = nat(REPLICAS - 1);
const move = oneof(
  { weight: 12, arbitrary: record({ kind: constant('look' as const), who }) },
  { weight: 12, arbitrary: record({ kind: constant('act' as const), who }) },
  {
    weight: 4,
    arbitrary: record({ kind: constant('pass' as const), ms: integer({ min: 1, max: 2 * minuteMs }) }),
  },
  {
    weight: 1,
    arbitrary: record({ kind: constant('pass' as const), ms: integer({ min: minuteMs, max: lifetimeMs }) }),
  },
  {
    weight: 1,
    arbitrary: record({ kind: constant('empty' as const), all: oneof(constant(true), constant(false)) }),
  },
  { weight: 1, arbitrary: record({ kind: constant('restart' as const), who }) },
);
const moves = array(move, { minLength: 20, maxLength: 200, size: 'max' });
const skews = array(integer({ min: -10 * minuteMs, max: 10 * minuteMs }), {
  minLength: REPLICAS,
  maxLength: REPLICAS,
});

describe('a rotation', () => {
  it('never serves what some API server cannot verify, in whatever order replicas see and act', () => {
    let served = 0;
    assert(
      property(skews, moves, (clocks, steps) => {
        const world = new World(clocks);
        // Of the many authorities that emptying could make only so many are kept.
        let empties = 0;
        for (const step of steps) {
          if (step.kind === 'pass') world.nowMs += step.ms;
          else if (step.kind === 'empty') {
            if (empties++ < 6) world.empty(step.all);
          } else {
            const replica = world.replicas[step.who]!;
            if (step.kind === 'look') world.look(replica);
            else if (step.kind === 'act') world.act(replica);
            else world.restart(replica);
          }
          expect(world.unverified()).toEqual([]);
          served += world.replicas.filter(({ serving }) => serving !== undefined).length;
        }
      }),
      { numRuns: runs },
    );
    expect(served).toBeGreaterThan(0);
  });

  it('comes to rest with one certificate that everybody serves, however it was left', () => {
    assert(
      property(skews, moves, (clocks, steps) => {
        const world = new World(clocks);
        for (const step of steps) {
          if (step.kind === 'pass') world.nowMs += step.ms;
          else if (step.kind === 'empty') world.empty(step.all);
          else {
            const replica = world.replicas[step.who]!;
            if (step.kind === 'look') world.look(replica);
            else if (step.kind === 'act') world.act(replica);
            else world.restart(replica);
          }
        }
        world.settle();
        const used = new Set(world.replicas.map(({ serving }) => serving?.authority.fingerprint));
        expect([...used]).toEqual([world.secret.leaf?.of.fingerprint]);
        expect(world.secret.leaf?.notAfterMs).toBeGreaterThan(world.nowMs + lifetimeMs / 4);
        expect(world.unverified()).toEqual([]);
        expect(world.replicas.every(({ staged }) => staged === undefined)).toBe(true);
      }),
      { numRuns: runs },
    );
  });

  it('leaves only authorities that have not ended', () => {
    const world = new World([0]);
    world.settle();
    const [first] = world.bundle.authorities;
    world.nowMs += lifetimeMs * 0.75;
    world.settle();
    expect(world.bundle.authorities).toHaveLength(2);
    expect(world.bundle.authorities).toContainEqual(first);
    world.nowMs = first!.notAfterMs + terms.skewMs;
    world.settle();
    expect(world.bundle.authorities).not.toContainEqual(first);
    expect(world.unverified()).toEqual([]);
  });

  it('serves at once when it is not registered yet', () => {
    const authority = { fingerprint: 'ca', notAfterMs: lifetimeMs };
    const leaf = { authority: 'ca', notBeforeMs: 0, notAfterMs: lifetimeMs, fits: true };
    const look = {
      leaf: undefined,
      authorities: [authority],
      registered: undefined,
      serving: false,
      staged: { authority, leaf, trustedForMs: undefined },
    };
    expect(nextStep(look, terms, 0)).toEqual({ kind: 'promote', authorities: [authority] });
  });

  it('makes a new certificate for other names, and one that nobody here signed', () => {
    const authority = { fingerprint: 'ca', notAfterMs: lifetimeMs };
    const look = { authorities: [authority], registered: [authority], serving: false, staged: undefined };
    const leaf = { authority: 'ca', notBeforeMs: 0, notAfterMs: lifetimeMs, fits: true };
    expect(nextStep({ ...look, leaf }, terms, 0).kind).toBe('wait');
    expect(nextStep({ ...look, leaf: { ...leaf, fits: false } }, terms, 0).kind).toBe('issue');
    expect(nextStep({ ...look, leaf: { ...leaf, authority: undefined } }, terms, 0).kind).toBe('issue');
  });

  it('makes a new certificate for one that begins only later, by a clock that ran ahead', () => {
    const authority = { fingerprint: 'ca', notAfterMs: lifetimeMs };
    const look = { authorities: [authority], registered: [authority], serving: true, staged: undefined };
    const leaf = { authority: 'ca', notBeforeMs: minuteMs, notAfterMs: lifetimeMs, fits: true };
    expect(nextStep({ ...look, leaf }, terms, minuteMs - 1).kind).toBe('issue');
    expect(nextStep({ ...look, leaf }, terms, minuteMs).kind).toBe('wait');
  });

  it('keeps what it serves while another certificate in the Secret is not registered', () => {
    const [old, other] = ['old', 'other'].map((fingerprint) => ({ fingerprint, notAfterMs: lifetimeMs }));
    const leaf = { authority: 'other', notBeforeMs: 0, notAfterMs: lifetimeMs, fits: true };
    const look = { leaf, authorities: [other!], registered: [old!], serving: true, staged: undefined };
    expect(shouldServe(look)).toBe(false);
    expect(shouldServe({ ...look, registered: [old!, other!] })).toBe(true);
    expect(shouldServe({ ...look, serving: false })).toBe(true);
  });

  describe('with a certificate to be replaced', () => {
    const now = 10 * lifetimeMs;
    const old: Trust = { fingerprint: 'old', notAfterMs: now + minuteMs };
    const next: Trust = { fingerprint: 'next', notAfterMs: now + lifetimeMs };
    const leafOf = ({ fingerprint, notAfterMs }: Trust): StoredLeaf => ({
      authority: fingerprint,
      notBeforeMs: notAfterMs - lifetimeMs,
      notAfterMs,
      fits: true,
    });
    const look = (trustedForMs: number | undefined): Look<Trust> => ({
      leaf: leafOf(old),
      authorities: [old, next],
      registered: [old, next],
      serving: true,
      staged: { authority: next, leaf: leafOf(next), trustedForMs },
    });

    it('puts the new one into use only when every API server has had the time to notice', () => {
      const { settleMs } = terms;
      expect(nextStep(look(undefined), terms, now)).toEqual({ kind: 'wait', forMs: settleMs });
      expect(nextStep(look(settleMs - 1), terms, now)).toEqual({ kind: 'wait', forMs: 1 });
      expect(nextStep(look(settleMs), terms, now)).toMatchObject({ kind: 'promote' });
    });

    it('keeps each authority that is registered, whoever registered it', () => {
      const found = { ...look(undefined), authorities: [next] };
      expect(nextStep(found, terms, now)).toEqual({ kind: 'store', authorities: [next, old] });
    });
  });
});
