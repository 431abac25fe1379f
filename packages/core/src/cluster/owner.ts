import type { RawMetadata } from './metadata.ts';

/** The owner that made an object and answers for it: at most one of its ownerReferences says `controller: true`. */
export interface Controller {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export function controllerOf(metadata: RawMetadata): Controller | undefined {
  const found = metadata.ownerReferences?.find((reference) => reference.controller === true);
  return found === undefined ? undefined : { kind: found.kind, name: found.name, uid: found.uid };
}
