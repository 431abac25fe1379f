import type { CapacityType } from '@spotalis/core';
import type {
  Breaker,
  Decision,
  LedgerEntry,
  LedgerPod,
  ListMark,
  ListReason,
  ReplicaSetInfo,
  SeenOutcome,
  Steering,
  StoredBreaker,
} from '../ledger.ts';

/** What the scripts answer, as the contracts in their headers have it, in the ledger's own words. */

export function array(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply))
    throw new TypeError(`Redis answered ${JSON.stringify(reply)} where a list was due`);
  return reply;
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

export function typeCode(type: CapacityType): 's' | 'o' {
  return type === 'spot' ? 's' : 'o';
}

/** Among the on-demand ones: a pod whose type nobody knows (see places.lua). */
const untypedRank = -2;

/** token, type, rank, substitute, resourceVersion: a pod as the scripts take it. */
export function podFields({ token, type, rank = -1, substitute, resourceVersion }: LedgerPod) {
  return type === null
    ? [token, 'o', untypedRank, 0, resourceVersion]
    : [token, typeCode(type), rank, substitute === true ? 1 : 0, resourceVersion];
}

function typeOf(code: unknown): CapacityType {
  return code === 's' ? 'spot' : 'on-demand';
}

export interface DecideReply {
  readonly ledgerId: string;
  readonly decision: Decision;
}

export function decideReply(reply: unknown, epoch: number): DecideReply {
  const [code, id, ...rest] = array(reply);
  const ledgerId = text(id);
  if (code === 0) return { ledgerId, decision: { kind: 'need-replicaset' } };
  if (code === -1) {
    const [reason, ...mark] = rest;
    return {
      ledgerId,
      decision: { kind: 'need-list', reason: listReason(reason), mark: listMark(mark, epoch) },
    };
  }
  const [type, rank, token, replay, substitute, spot, onDemand, untyped] = rest;
  return {
    ledgerId,
    decision: {
      kind: 'decided',
      type: typeOf(type),
      rank: Number(rank),
      token: text(token),
      replay: replay === 1,
      substitute: substitute === 1,
      counts: { spot: Number(spot), onDemand: Number(onDemand), untyped: Number(untyped) },
    },
  };
}

/** As markList.lua answers. */
export function listMark([atUs, pods, replicaSet]: readonly unknown[], epoch: number): ListMark {
  return {
    atUs: Number(atUs),
    epoch,
    ...(text(pods) === '' ? {} : { pods: text(pods) }),
    ...(text(replicaSet) === '' ? {} : { replicaSet: text(replicaSet) }),
  };
}

const listReasons: readonly ListReason[] = ['unseeded', 'dirty', 'expired-pending', 'release-seen', 'full'];

function listReason(value: unknown): ListReason {
  const reason = listReasons.find((known) => known === value);
  if (reason === undefined) throw new TypeError(`Redis gave the reason ${JSON.stringify(value)} for a LIST`);
  return reason;
}

export function seenReply(reply: unknown): SeenOutcome {
  return reply === 1 ? 'recorded' : reply === 0 ? 'outdated' : 'gone';
}

export function steerReply(reply: unknown): Steering {
  const [code, type, substitute] = array(reply);
  if (code === 0) return { kind: 'unsteered' };
  return { kind: 'steered', type: type === 'spot' ? 'spot' : 'on-demand', substitute: substitute === 1 };
}

/** state|type|rank|substitute|version, as places.lua writes it. */
export function entry(token: string, value: string): LedgerEntry {
  const [state, type, rank, substitute, version] = value.split('|');
  const place = {
    token,
    type: Number(rank) === untypedRank ? null : typeOf(type),
    substitute: substitute === '1',
    ...(Number(rank) < 0 ? {} : { rank: Number(rank) }),
  };
  return state === 'P'
    ? { ...place, state: 'pending' }
    : { ...place, state: 'live', resourceVersion: version ?? '' };
}

/** state, permits, version, takenat, memo */
export function storedBreaker(fields: readonly unknown[]): StoredBreaker {
  const [state, permits, version, takenAt, memo] = fields;
  const kept = {
    version: Number(version ?? 0),
    ...(takenAt === null || takenAt === undefined
      ? {}
      : { permitTakenAtMs: Math.floor(Number(takenAt) / 1000) }),
    ...(typeof memo === 'string' && memo !== '' ? { memo } : {}),
  };
  return { ...breakerState(state, permits), ...kept };
}

function breakerState(state: unknown, permits: unknown): Breaker {
  if (state === 'open') return { state };
  if (state === 'half-open') return { state, permits: Number(permits) };
  return { state: 'closed' };
}

export function replicaSetInfo(fields: readonly unknown[]): ReplicaSetInfo | undefined {
  const [uid, name, replicas, resourceVersion] = fields;
  if (typeof uid !== 'string') return undefined;
  return {
    owner: { uid, name: text(name) },
    replicas: Number(replicas),
    resourceVersion: text(resourceVersion),
  };
}
