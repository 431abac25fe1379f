import type { EventSpec } from '@spotalis/kube';

/** Every Event about the service itself. */
export const kernelEvents = {
  InvalidConfiguration: {
    type: 'Warning',
    on: "the service's own pod",
    when: 'a changed configuration file was refused',
  },
} as const satisfies Readonly<Record<string, EventSpec>>;
