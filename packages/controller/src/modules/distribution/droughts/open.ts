import type { RebalanceSettings } from '@spotalis/core';
import type { Ledger } from '@spotalis/ledger';
import { wallMs } from '../../../kernel/clocks.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import type { WebhookProbe } from '../webhook/probe.ts';
import { Bridger } from './bridger.ts';
import { Bulletins } from './bulletin.ts';
import { Droughts } from './droughts.ts';
import { droughtMetrics, DroughtNarrator } from './narrator.ts';
import type { Shapes } from './shapes.ts';

/** What is known of droughts and done about them, where there is a ledger to write breakers into. */
export interface DroughtWork {
  readonly droughts: Droughts;
  readonly bridger: Bridger;
  readonly bulletins: Bulletins;
}

export function openDroughts(
  kernel: Kernel,
  ledger: Ledger,
  shapes: Shapes,
  probe: WebhookProbe,
  settings: () => RebalanceSettings,
): DroughtWork {
  const { client, cluster, recorder, ownNamespace, identity, mayWrite, isReadOnly, disruption } = kernel;
  const { metrics, logger } = kernel;
  const bulletins = new Bulletins({
    client,
    cluster,
    namespace: ownNamespace,
    writer: identity,
    mayWrite,
    isReadOnly,
    logger,
    now: wallMs,
    after(ms, task) {
      const timer = setTimeout(task, ms).unref();
      return () => clearTimeout(timer);
    },
  });
  const droughts = new Droughts({ cluster, ledger, shapes, bulletins, logger });
  const bridger = new Bridger({
    droughts,
    probe,
    holds: disruption.holds,
    narrator: new DroughtNarrator({ recorder, metrics: droughtMetrics(metrics), logger, now: wallMs }),
    settings,
    now: wallMs,
  });
  return { droughts, bridger, bulletins };
}
