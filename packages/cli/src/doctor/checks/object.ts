import type { ObservedWorkload } from '@spotalis/core';

export const nameOf = ({ workloadKind, metadata }: ObservedWorkload): string =>
  `${workloadKind} ${metadata.namespace ?? ''}/${metadata.name}`;
