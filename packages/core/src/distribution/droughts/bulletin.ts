import type { WorkloadKind } from '../../cluster/observed-workload.ts';
import type { Breaker } from './breaker.ts';
import { probeAtMs } from './breaker.ts';

/** A workload whose pods cannot be had on spot: what of its breaker is of use to people. */
export interface DroughtReport {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly state: Exclude<Breaker['state'], 'closed'>;
  readonly sinceMs: number;
  /** When spot is tried even without a sign of capacity; null while it is being tried. */
  readonly nextProbeAtMs: number | null;
  /** The name of its placement. */
  readonly pool: string;
  /** Several workloads of the placement found no capacity at the same time, so that none of them waits any more. */
  readonly poolIsOpen: boolean;
}

/** What the leading controller tells of droughts to whoever does not ask the ledger. */
export interface Bulletin {
  /** Who wrote it. */
  readonly writer: string;
  readonly writtenAtMs: number;
  readonly droughts: readonly DroughtReport[];
  /** How many more there were than it has room for. */
  readonly omitted: number;
}

export type BulletinReading =
  | { readonly kind: 'read'; readonly bulletin: Bulletin }
  /** Nobody has written one yet. */
  | { readonly kind: 'blank' }
  | { readonly kind: 'unreadable'; readonly why: string };

/** The ConfigMap that holds it, in the namespace of the controllers, and its one key. */
export const bulletinPlace = { name: 'spotalis-droughts', key: 'droughts.json' } as const;

const VERSION = 1;
/** A ConfigMap holds 1 MiB, and a page of etcd is better small: a report takes some 250 bytes. */
const MOST_REPORTS = 500;
const MOST_CHARACTERS = 256 * 1024;

type Open = Exclude<Breaker, { state: 'closed' }>;

/** When a breaker that is not closed is tried next; null while it is being tried. */
export const nextProbeOf = (breaker: Open): number | null =>
  breaker.state === 'open' ? probeAtMs(breaker) : null;

/** The longest droughts first, as many as there is room for. The same bulletin is always the same text. */
export function writeBulletin({ writer, writtenAtMs, droughts, omitted }: Bulletin): string {
  const pools: string[] = [];
  const written: object[] = [];
  let characters = 0;
  const ordered = droughts.toSorted((a, b) => a.sinceMs - b.sinceMs || (a.uid < b.uid ? -1 : 1));
  for (const { kind, namespace, name, uid, state, sinceMs, nextProbeAtMs, pool, poolIsOpen } of ordered) {
    const known = pools.indexOf(pool);
    const entry = {
      workload: `${kind}/${namespace}/${name}`,
      uid,
      state,
      since: timeOf(sinceMs),
      ...(nextProbeAtMs !== null && { nextProbe: timeOf(nextProbeAtMs) }),
      pool: known < 0 ? pools.length : known,
      ...(poolIsOpen && { poolIsOpen }),
    };
    characters += JSON.stringify(entry).length + (known < 0 ? JSON.stringify(pool).length : 0);
    if (written.length === MOST_REPORTS || characters > MOST_CHARACTERS) break;
    if (known < 0) pools.push(pool);
    written.push(entry);
  }
  return JSON.stringify({
    version: VERSION,
    writer,
    writtenAt: timeOf(writtenAtMs),
    pools,
    droughts: written,
    omitted: omitted + ordered.length - written.length,
  });
}

/** Total: what another version wrote, or nobody of ours, is told and not thrown. */
export function readBulletin(text: string | undefined): BulletinReading {
  if (text === undefined || text.trim() === '') return { kind: 'blank' };
  const root = recordOf(parsed(text));
  if (root === undefined) return unreadable('it is not an object in JSON');
  if (root['version'] !== VERSION) {
    const version = JSON.stringify(root['version']) ?? 'none';
    return unreadable(`its version is ${version}, and ${VERSION} is understood`);
  }
  const { writer, pools, droughts, omitted } = root;
  const writtenAtMs = msOf(root['writtenAt']);
  const isWhole =
    typeof writer === 'string' && writtenAtMs !== null && isCount(omitted) && Array.isArray(droughts);
  if (!isWhole || !isTexts(pools)) return unreadable('a part of it is missing or of another kind');
  const reports = droughts.map((each: unknown) => reportOf(each, pools));
  const wrong = reports.indexOf(null);
  if (wrong >= 0) return unreadable(`its drought number ${wrong + 1} is not whole`);
  const whole = reports.filter((report) => report !== null);
  return { kind: 'read', bulletin: { writer, writtenAtMs, droughts: whole, omitted } };
}

function reportOf(value: unknown, pools: readonly string[]): DroughtReport | null {
  const entry = recordOf(value) ?? {};
  const { workload, uid, state, pool, poolIsOpen = false } = entry;
  if (typeof workload !== 'string' || typeof uid !== 'string' || typeof poolIsOpen !== 'boolean') return null;
  const [kind, namespace, name, ...more] = workload.split('/');
  if (kind !== 'Deployment' && kind !== 'StatefulSet') return null;
  if (namespace === undefined || name === undefined || more.length > 0) return null;
  if (state !== 'open' && state !== 'half-open') return null;
  const sinceMs = msOf(entry['since']);
  const isTried = entry['nextProbe'] === undefined;
  const nextProbeAtMs = msOf(entry['nextProbe']);
  const poolName = typeof pool === 'number' ? pools[pool] : undefined;
  if (sinceMs === null || (nextProbeAtMs === null && !isTried) || poolName === undefined) return null;
  return { kind, namespace, name, uid, state, sinceMs, nextProbeAtMs, pool: poolName, poolIsOpen };
}

const unreadable = (why: string): BulletinReading => ({ kind: 'unreadable', why });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0;

/** The greatest time that a date can have, in either direction. */
const MOST_MS = 8_640_000_000_000_000;

const timeOf = (ms: number): string =>
  new Date(Number.isFinite(ms) ? Math.max(-MOST_MS, Math.min(MOST_MS, ms)) : 0).toISOString();

function msOf(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}
