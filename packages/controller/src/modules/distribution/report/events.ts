import type { EventSpec } from '@spotalis/kube';

/** Every Event about workloads and their Namespaces. */
export const distributionEvents = {
  Moved: { type: 'Normal', on: 'the workload', when: 'a pod was evicted, to be created on the other type' },
  MoveBlocked: {
    type: 'Warning',
    on: 'the workload',
    when: 'an obstacle to a move has lasted for five seconds: the note begins with its reason',
  },
  PlacementConflict: { type: 'Warning', on: 'the workload', when: 'the same, also where nothing drifts' },
  OnDemandShort: {
    type: 'Warning',
    on: 'the workload',
    when: 'the same, after a minute, also where nothing drifts',
  },
  NoFallback: { type: 'Warning', on: 'the workload', when: 'the same, also where nothing drifts' },
  PodsUnscheduled: {
    type: 'Warning',
    on: 'the workload',
    when: 'the same, also where nothing drifts: pods have had no node for a minute, and more capacity would not help',
  },
  WindowOpened: { type: 'Normal', on: 'the workload', when: 'it drifts, and its window has opened' },
  FallbackStarted: { type: 'Warning', on: 'the workload', when: 'a drought begins' },
  FallbackEnded: { type: 'Normal', on: 'the workload', when: 'a drought ends; the note says how' },
  PlacementOverridden: {
    type: 'Warning',
    on: 'the workload',
    when: 'three replacements in a row were changed after their admission; the note names the field',
  },
  InvalidPolicy: {
    type: 'Warning',
    on: 'the workload, or its Namespace',
    when: 'a value cannot be read; the note names key, value and a valid example',
  },
  UnknownKey: {
    type: 'Warning',
    on: 'the workload, or its Namespace',
    when: 'a key under `spotalis.io/` is none; the note names the one that was probably meant',
  },
  NoPolicy: { type: 'Warning', on: 'the workload', when: 'it has the label, and neither number is set' },
} as const satisfies Readonly<Record<string, EventSpec>>;

export type DistributionEvent = keyof typeof distributionEvents;
