import type { NodeSelectorTerm } from './pod-spec.ts';
import type { PodVolumes } from './workload-pod.ts';
import { type Identified, identityOf, type RawIdentified } from './metadata.ts';

export interface RawClaim extends RawIdentified {
  readonly spec?: { readonly volumeName?: string };
}

/** What is kept of a PersistentVolumeClaim. */
export interface ObservedClaim extends Identified {
  /** Undefined until it is bound. */
  readonly volumeName: string | undefined;
}

export const pruneClaim = ({ metadata, spec }: RawClaim): ObservedClaim => ({
  metadata: identityOf(metadata),
  volumeName: spec?.volumeName || undefined,
});

export interface RawVolume extends RawIdentified {
  readonly spec?: {
    readonly nodeAffinity?: {
      readonly required?: { readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] };
    };
  };
}

/** What is kept of a PersistentVolume: from which nodes it can be reached. */
export interface ObservedVolume extends Identified {
  /** Empty: from all of them. */
  readonly terms: readonly NodeSelectorTerm[];
}

export const pruneVolume = ({ metadata, spec }: RawVolume): ObservedVolume => ({
  metadata: identityOf(metadata),
  terms: spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [],
});

/** Claims by `namespace/name`, volumes by name. */
export interface VolumeLookup {
  readonly claims: { get(key: string): ObservedClaim | undefined };
  readonly volumes: { get(key: string): ObservedVolume | undefined };
}

/** Where a pod with these claims can run. */
export function reachOf(namespace: string, claims: readonly string[], stores: VolumeLookup): PodVolumes {
  const affinities: (readonly NodeSelectorTerm[])[] = [];
  for (const name of claims) {
    const claim = stores.claims.get(`${namespace}/${name}`);
    if (claim === undefined) return { kind: 'unknown' };
    // One that is not bound yet goes wherever its pod goes.
    if (claim.volumeName === undefined) continue;
    const volume = stores.volumes.get(claim.volumeName);
    if (volume === undefined) return { kind: 'unknown' };
    if (volume.terms.length > 0) affinities.push(volume.terms);
  }
  return { kind: 'bound', affinities };
}
