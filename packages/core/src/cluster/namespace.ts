import { type Identified, identityOf, ownAnnotations, type RawIdentified } from './metadata.ts';

/** What is kept of a Namespace. */
export interface ObservedNamespace extends Identified {
  /** All of them: the scope's selector may ask for any. */
  readonly labels: Readonly<Record<string, string>>;
  /** Those under our prefix: defaults for the policies of its workloads. */
  readonly annotations: Readonly<Record<string, string>>;
}

export function pruneNamespace(raw: RawIdentified): ObservedNamespace {
  return {
    metadata: identityOf(raw.metadata),
    labels: raw.metadata.labels ?? {},
    annotations: ownAnnotations(raw.metadata),
  };
}
