/** The few fields that this package needs of any object. Everything else is the caller's business. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  /** Opaque. May be compared for equality and handed back to the server, never ordered. */
  readonly resourceVersion: string;
}

export interface KubeObject {
  readonly metadata: ObjectMeta;
}

/** Metadata as the server sends it, before a prune function has chosen what to keep. */
export interface RawMeta extends ObjectMeta {
  readonly generateName?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: unknown;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** An object as it comes off the wire: timestamps are strings, unknown fields are kept. */
export interface RawObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: RawMeta;
}

/** `namespace/name`, or `name` for what has no namespace: the key of stores and queues. */
export function keyOf(object: KubeObject): string {
  const { namespace, name } = object.metadata;
  // V8 keeps what a template makes as a tree of its parts, half as large again; a store has a key for each object.
  return namespace === undefined || namespace === '' ? name : [namespace, name].join('/');
}

/** Inverse of `keyOf`. */
export function parseKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return slash < 0
    ? { namespace: '', name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
