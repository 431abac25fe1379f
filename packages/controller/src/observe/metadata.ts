import { keyPrefix } from '@spotalis/core';
import type { ObjectMeta, RawMeta } from '@spotalis/kube';

/** Name, namespace, UID and resourceVersion, and nothing that hangs on to the object as it was sent. */
export function identityOf(raw: RawMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion } = raw;
  return namespace === undefined ? { name, uid, resourceVersion } : { name, namespace, uid, resourceVersion };
}

/** Everything of a map that is under our prefix, unknown keys too: a typo has to be told to its author. */
function own(map: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(map ?? {})) if (key.startsWith(keyPrefix)) kept[key] = value;
  return kept;
}

export const ownLabels = (raw: Pick<RawMeta, 'labels'>): Readonly<Record<string, string>> => own(raw.labels);
export const ownAnnotations = (raw: Pick<RawMeta, 'annotations'>): Readonly<Record<string, string>> =>
  own(raw.annotations);
