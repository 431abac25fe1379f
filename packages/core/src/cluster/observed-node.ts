import type { CapacityType } from '../capacity/type.ts';
import type { Labels } from '../policy/keys.ts';
import type { Taint } from './node.ts';
import { type Quantities, readAllocatable, type Resources } from './resources.ts';
import { type Identified, identityOf, type RawIdentified } from './metadata.ts';

export interface RawNode extends RawIdentified {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly allocatable?: Quantities;
  };
}

/** What is kept of a Node: its type, and what decides whether one more pod would be scheduled on it. */
export interface ObservedNode extends Identified {
  /** Undefined for a node that no configured label knows. */
  readonly type: CapacityType | undefined;
  /** All of them: selectors of pods may ask for any. */
  readonly labels: Labels;
  readonly ready: boolean;
  readonly cordoned: boolean;
  readonly taints: readonly Taint[];
  readonly allocatable: Resources;
}

export const pruneNode =
  (classify: (labels: Labels) => CapacityType | undefined) =>
  ({ metadata, spec, status }: RawNode): ObservedNode => {
    const labels = metadata.labels ?? {};
    return {
      metadata: identityOf(metadata),
      type: classify(labels),
      labels,
      ready: status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false,
      cordoned: spec?.unschedulable ?? false,
      taints: (spec?.taints ?? []).map(({ key, value, effect }) => ({
        key,
        effect,
        ...(value === undefined ? {} : { value }),
      })),
      allocatable: readAllocatable(status?.allocatable ?? {}),
    };
  };
