import type { ApiClient, KubeObject, ReflectorObserver } from '@spotalis/kube';
import { Mirror } from '../cluster/mirror.ts';
import {
  type LiveReplicaSet,
  type RawReplicaSet,
  readingOf,
  type ReplicaSetRef,
  replicaSets,
} from '../cluster/replicaset.ts';

/** While a watch is dead, a ReplicaSet must not count as new for longer. */
const NEWBORN_MS = 10_000;

interface Newborn extends KubeObject {
  readonly reading: LiveReplicaSet;
  readonly heardAtMs: number;
}

export interface NewbornsOptions {
  readonly client: ApiClient;
  /** Only these are read. None: all. */
  readonly namespaces: readonly string[];
  readonly isAbsent: (namespace: string) => boolean;
  readonly observer: ReflectorObserver;
  readonly now: () => number;
}

/**
 * ReplicaSets of Deployments that their controller has not acted on yet. The watch shows one when it shows it to the
 * ReplicaSet controller, so its first pods do not wait for a GET, which takes a tenth of a second in a busy cluster. It
 * leaves once that controller has acted. Nothing is listed: no ReplicaSet that exists already is new.
 */
export class Newborns extends Mirror<RawReplicaSet, Newborn> {
  override readonly name = 'newborn replicasets';
  readonly #now: () => number;

  constructor({ now, ...options }: NewbornsOptions) {
    const uids = new Set<string>();
    super({
      ...options,
      resource: replicaSets,
      fromNow: true,
      skips: (line) => isChangeOfOther(line, uids),
      prune: (raw) => newborn(raw, now()),
    });
    this.#now = now;
    this.store.subscribe(({ type, object }) => {
      if (type === 'added') uids.add(object.metadata.uid);
      else if (type !== 'updated') uids.delete(object.metadata.uid);
    });
  }

  find({ namespace, name, uid }: ReplicaSetRef): LiveReplicaSet | undefined {
    const found = this.store.get(`${namespace}/${name}`);
    if (found?.metadata.uid !== uid || this.#now() - found.heardAtMs > NEWBORN_MS) return undefined;
    return found.reading;
  }

  /** The service does not wait for it: a ReplicaSet that is not found here is read. */
  override async start(): Promise<void> {
    this.reflector.start();
  }
}

/** As the API server writes it. A line in another form is parsed, which takes longer. */
const changeOf =
  /^\{"type":"MODIFIED","object":\{"kind":"ReplicaSet","apiVersion":"apps\/v1","metadata":\{"name":"[^"]+","namespace":"[^"]+","uid":"([^"]+)"/;

/** Every ReplicaSet of the cluster changes with each of its pods, and all but the newborn ones change nothing here. */
function isChangeOfOther(line: string, uids: ReadonlySet<string>): boolean {
  const [, uid] = changeOf.exec(line) ?? [];
  return uid !== undefined && !uids.has(uid);
}

function newborn(raw: RawReplicaSet, heardAtMs: number): Newborn | undefined {
  const reading = readingOf(raw);
  if (reading.deployment === undefined || !reading.birth.untouched) return undefined;
  const { name, namespace = '', uid, resourceVersion } = raw.metadata;
  return { metadata: { name, namespace, uid, resourceVersion }, reading, heardAtMs };
}
