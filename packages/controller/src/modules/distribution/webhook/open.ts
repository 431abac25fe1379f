import type { ObservedWorkload, PolicyReading, WebhookState } from '@spotalis/core';
import { wallMs } from '../../../kernel/clocks.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import type { Attention } from '../attention.ts';
import type { MoveMetrics } from '../report/metrics.ts';
import { Bypass } from './bypass.ts';
import { followAdmissions, watchWebhook } from './duties.ts';
import { WebhookProbe } from './probe.ts';
import { SharedDefaults } from './shared-defaults.ts';

/** What is known of the webhook, on which all moves rest. */
export interface Admissions {
  readonly probe: WebhookProbe;
  readonly bypass: Bypass;
  readonly sharedDefaults: SharedDefaults;
  readonly state: () => WebhookState;
  /** What begins with leading. */
  readonly duties: readonly (() => () => void)[];
}

export function openAdmissions(
  { values, cluster, client, reloads, logger }: Kernel,
  attention: Attention,
  metrics: Pick<MoveMetrics, 'webhookServing'>,
  policyOf: (workload: ObservedWorkload) => PolicyReading,
): Admissions {
  const bypass = new Bypass();
  const sharedDefaults = new SharedDefaults();
  const probe = new WebhookProbe({
    client,
    configurationName: values.webhook.configurationName,
    onChange(health) {
      metrics.webhookServing(health.kind === 'serving');
      if (health.kind === 'serving') logger.info('the webhook serves');
      else logger.warn('the webhook does not serve; nothing is moved', { why: health.detail });
      attention.again();
    },
  });
  reloads.follow((_values, keys) => {
    if (keys.some((key) => key.startsWith('defaults.'))) sharedDefaults.changed(wallMs());
  });
  return {
    probe,
    bypass,
    sharedDefaults,
    state: () => (probe.health.kind === 'serving' ? (bypass.state ?? probe.health) : probe.health),
    duties: [
      () => watchWebhook(probe),
      () => followAdmissions({ cluster, bypass, sharedDefaults, policyOf }, () => attention.again()),
    ],
  };
}
