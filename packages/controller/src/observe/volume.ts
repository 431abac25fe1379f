import type { NodeSelectorTerm, PodVolumes } from '@spotalis/core';
import type { KubeObject, RawObject, Store } from '@spotalis/kube';
import { identityOf } from './metadata.ts';

export interface RawClaim extends RawObject {
  readonly spec?: { readonly volumeName?: string };
}

/** What is kept of a PersistentVolumeClaim. */
export interface ObservedClaim extends KubeObject {
  /** Undefined until it is bound. */
  readonly volumeName: string | undefined;
}

export const pruneClaim = ({ metadata, spec }: RawClaim): ObservedClaim => ({
  metadata: identityOf(metadata),
  volumeName: spec?.volumeName || undefined,
});

export interface RawVolume extends RawObject {
  readonly spec?: {
    readonly nodeAffinity?: {
      readonly required?: { readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] };
    };
  };
}

/** What is kept of a PersistentVolume: from which nodes it can be reached. */
export interface ObservedVolume extends KubeObject {
  /** Empty: from all of them. */
  readonly terms: readonly NodeSelectorTerm[];
}

export const pruneVolume = ({ metadata, spec }: RawVolume): ObservedVolume => ({
  metadata: identityOf(metadata),
  terms: spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [],
});

/** Where a pod with these claims can run. */
export function reachOf(
  namespace: string,
  claims: readonly string[],
  stores: { readonly claims: Store<ObservedClaim>; readonly volumes: Store<ObservedVolume> },
): PodVolumes {
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
