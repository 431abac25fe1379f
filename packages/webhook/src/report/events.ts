import type { EventSpec } from '@spotalis/kube';

/** Every Event that the webhook writes. */
export const webhookEvents = {
  NodeLabelsMissing: {
    type: 'Warning',
    on: "the service's own pod",
    when: 'it starts and no node, nor a NodePool, is known to offer on-demand: no pod is steered until one is',
  },
  InvalidConfiguration: {
    type: 'Warning',
    on: "the service's own pod",
    when: 'a changed configuration file was refused',
  },
} as const satisfies Readonly<Record<string, EventSpec>>;

export type WebhookEvent = keyof typeof webhookEvents;
