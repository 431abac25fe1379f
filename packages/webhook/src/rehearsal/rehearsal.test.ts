import { Writable } from 'node:stream';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readCapacity } from '@spotalis/core';
import { type DecideRequest, MemoryLedger } from '@spotalis/ledger';
import {
  accepted,
  CertificateHolder,
  createAuthority,
  createLogger,
  issueLeaf,
  type Logger,
} from '@spotalis/runtime';
import { Rehearsal } from './rehearsal.ts';
import { rehearsedUids } from './review.ts';
import { openRehearsalService } from './service.ts';

const { placement } = accepted(
  readCapacity({
    nodeLabels: { spot: ['capacity=spot'], onDemand: ['capacity=on-demand'] },
    placement: {
      tolerations: [],
      nodeAffinity: { spot: [], onDemand: [] },
      assumeLabels: false,
      spreadSpotOverZones: false,
    },
  }),
);
const now = () => performance.now();
const dayMs = 86_400_000;
const certificates = new CertificateHolder();

let asked: DecideRequest[];
let answered: unknown[];
let closed: number;
let ledger: MemoryLedger;
let logger: Logger;
let lines: { readonly level: string; readonly message: string }[];

beforeAll(async () => {
  const validity = { notBeforeMs: Date.now() - dayMs, notAfterMs: Date.now() + dayMs };
  const authority = await createAuthority({ commonName: 'test', ...validity });
  // Not good for where it is rehearsed, as in a cluster.
  certificates.set(await issueLeaf(authority, { names: ['webhook.svc'], ...validity }));
});

beforeEach(() => {
  asked = [];
  answered = [];
  closed = 0;
  ledger = new MemoryLedger({ now: () => Date.now() });
  lines = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  logger = createLogger({ service: 'test', level: 'info', format: 'json', stream });
});

afterEach(() => ledger.close());

function rehearsal(admissions: number, decide = (request: DecideRequest) => ledger.decide(request)) {
  const openService = () =>
    openRehearsalService({
      ledger: {
        decide: async (request) => {
          asked.push(request);
          const decision = await decide(request);
          answered.push(decision);
          return decision;
        },
        isPoolOpen: () => false,
        health: () => ledger.health(),
        close: async () => {
          closed += 1;
        },
      },
      placement,
      decisionTimeoutMs: 1_500,
      logging: { level: 'info', format: 'json' },
      now,
    });
  return new Rehearsal({ admissions, openService, certificates, logger, now });
}

const unhurried = () => ({ signal: new AbortController().signal });

describe('a rehearsal', () => {
  it('runs as many admissions as it is told, each of them answered by the ledger at the first question', async () => {
    await rehearsal(100).start(unhurried());
    expect(asked).toHaveLength(100);
    expect(answered).toEqual(Array.from({ length: 100 }, () => expect.objectContaining({ kind: 'decided' })));
    expect(lines).toContainEqual(expect.objectContaining({ message: 'rehearsed', admissions: 100 }));
  });

  it('leaves nothing in the ledger', async () => {
    await rehearsal(20).start(unhurried());
    expect(asked.every(({ dryRun }) => dryRun === true)).toBe(true);
    const revision = { workloadUid: rehearsedUids.deployment, replicaSetUid: rehearsedUids.replicaSet };
    expect(await ledger.entries(revision)).toEqual([]);
    expect(await ledger.counts(revision)).toEqual({ spot: 0, onDemand: 0, untyped: 0, pending: 0 });
    expect(closed).toBe(1);
  });

  it('ends soon when the service is told to stop', async () => {
    const stop = new AbortController();
    await rehearsal(10_000, async (request) => {
      stop.abort();
      return ledger.decide(request);
    }).start({ signal: stop.signal });
    expect(asked.length).toBeLessThan(200);
  });

  it('is nothing to fail by', async () => {
    const unlistenable = new Rehearsal({
      admissions: 1,
      openService: async () => {
        throw new Error('no port');
      },
      certificates,
      logger,
      now,
    });
    await unlistenable.start(unhurried());
    expect(lines).toEqual([
      expect.objectContaining({ level: 'warn', message: 'not rehearsed; the first admissions will be slow' }),
    ]);
  });

  it('is not held at all where none is wanted', async () => {
    await rehearsal(0).start(unhurried());
    expect(asked).toEqual([]);
    expect(lines).toEqual([]);
  });
});
