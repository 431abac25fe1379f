import { keyPrefix } from '../policy/keys.ts';

/** What tells one object from all others, and one state of it from the next. */
export interface Identity {
  readonly name: string;
  readonly namespace?: string;
  /** Owners are matched by it. */
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface Identified {
  readonly metadata: Identity;
}

/** Metadata as the API server sends it. */
export interface RawMetadata extends Identity {
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
    readonly controller?: boolean;
  }[];
}

/** An object as the API server sends it; unknown fields do not matter. */
export interface RawIdentified {
  readonly metadata: RawMetadata;
}

/** Name, namespace, UID and resourceVersion, and nothing that hangs on to the object as it was sent. */
export function identityOf(raw: RawMetadata): Identity {
  const { name, namespace, uid, resourceVersion } = raw;
  return namespace === undefined ? { name, uid, resourceVersion } : { name, namespace, uid, resourceVersion };
}

/** Everything of a map that is under our prefix, unknown keys too: a typo has to be told to its author. */
function own(map: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(map ?? {})) if (key.startsWith(keyPrefix)) kept[key] = value;
  return kept;
}

export const ownLabels = (raw: Pick<RawMetadata, 'labels'>): Readonly<Record<string, string>> =>
  own(raw.labels);
export const ownAnnotations = (raw: Pick<RawMetadata, 'annotations'>): Readonly<Record<string, string>> =>
  own(raw.annotations);
