import { combine, type SettingRule, type ValuesOf } from '@spotalis/units';
import type { Placement } from './capacity/placement.ts';
import { capacitySettings } from './capacity/settings.ts';
import { disruptionSettings } from './disruption/settings.ts';
import { distribution } from './distribution/module.ts';
import { droughtSettings } from './distribution/droughts/settings.ts';
import { placeholderSettings } from './proof/settings.ts';
import type { DisruptionWindow, PolicyDefaults } from './policy/policy.ts';
import { policySettings } from './policy/settings.ts';
import { rightsizing } from './rightsizing/module.ts';
import type { RebalanceSettings } from './distribution/moves/snapshot.ts';
import { controllerSettings } from './services/controller.ts';
import { redisSettings } from './services/redis.ts';
import { webhookSettings } from './services/webhook.ts';

const declared = combine(
  controllerSettings,
  policySettings,
  disruptionSettings,
  placeholderSettings,
  droughtSettings,
  webhookSettings,
  capacitySettings,
  distribution.settings,
  rightsizing.settings,
  redisSettings,
);

export type ProductSettings = typeof declared.settings;

/** What the services are told from outside, but for what any service is told. Durations are milliseconds. */
export type Configuration = ValuesOf<ProductSettings>;

const embeddedLedgerIsAlone: SettingRule<ProductSettings> = ({ redis, webhook }) => {
  const { replicas = 1 } = webhook;
  if (replicas === 1 || !redis.url?.startsWith('memory:')) return [];
  const message = `memory:// keeps the ledger inside one webhook, and webhook.replicas is ${replicas}; set a Redis, for example url: redis://redis:6379, or one replica`;
  return [{ key: 'redis.url', message }];
};

/** Every setting of the product, in the order of docs/configuration.md, each declared by its owner. */
export const settings = { ...declared, rules: [...declared.rules, embeddedLedgerIsAlone] };

/** What a workload goes by where neither it nor its Namespace says anything. */
export function policyDefaults({
  defaults: { spotPercentage, minOnDemand },
  fallback,
}: Pick<Configuration, 'defaults' | 'fallback'>): PolicyDefaults {
  return { spotPercentage, minOnDemand, spotFallbackAfter: `${fallback.after}ms` };
}

/** What decisions about workloads go by. */
export function rebalanceSettings(
  { readOnlyMode, rebalance, fallback }: Pick<Configuration, 'readOnlyMode' | 'rebalance' | 'fallback'>,
  { window, placement }: { readonly window: DisruptionWindow | null; readonly placement: Placement },
): RebalanceSettings {
  const { cluster, namespace, node, workload } = rebalance.maxInFlight;
  return {
    readOnly: readOnlyMode,
    window,
    cooldownMs: rebalance.cooldown,
    minPodAgeMs: rebalance.minPodAge,
    allowSingleReplica: rebalance.allowSingleReplica,
    maxMovesPerMinute: rebalance.maxMovesPerMinute,
    maxInFlight: { cluster, namespace, node, workload },
    placement,
    fallback: {
      maxRemovalsPerMinute: fallback.maxRemovalsPerMinute,
      backoff: { initialMs: fallback.backoff.initial, maxMs: fallback.backoff.max },
    },
  };
}
