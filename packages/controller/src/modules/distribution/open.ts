import { wallMs } from '../../kernel/clocks.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { Attention } from './attention.ts';
import { Distribution } from './distribution.ts';
import { openDroughts } from './droughts/open.ts';
import { Shapes } from './droughts/shapes.ts';
import { Ledgers } from './ledger/ledgers.ts';
import { EMBEDDED, openObservedLedger } from './ledger/open.ts';
import { Reaches } from './ledger/reaches.ts';
import { openRebalancing } from './moves/open.ts';
import { openReporting } from './report/open.ts';
import { decisionSettings, policiesOf } from './settings.ts';
import { openAdmissions } from './webhook/open.ts';

/** Distribution at work: the ledger and the webhook, droughts, decisions, reports. */
export function openDistribution(kernel: Kernel): Distribution {
  const { values, live, cluster, rooms, mayWrite, isReadOnly } = kernel;
  const settings = decisionSettings(kernel.capacity.placement, live);
  const policyOf = policiesOf(cluster, live);
  const attention = new Attention(cluster, kernel.capacity.placement);
  const shapes = new Shapes(cluster, wallMs);
  const reporting = openReporting(kernel);
  const { ledger, observation } = openObservedLedger(kernel, (uid) => attention.ledgerChanged(uid));
  const ledgers = new Ledgers({ cluster, ledger, verify: async (uid) => observation?.verify(uid) });
  const admissions = openAdmissions(kernel, attention, reporting.moveMetric, policyOf);
  const { probe, bypass } = admissions;
  const drought = ledger && openDroughts(kernel, ledger, shapes, probe, settings);
  const rebalancing = openRebalancing(kernel, {
    settings,
    policyOf,
    attention,
    admissions,
    ledgers,
    drought,
    reporting,
  });
  return new Distribution({
    cluster,
    attention,
    policyOf,
    ledgers,
    reaches:
      ledger &&
      new Reaches({
        cluster,
        ledger,
        shapes,
        rooms,
        mayWrite: () => mayWrite() && !isReadOnly(),
        now: wallMs,
      }),
    rebalancer: rebalancing.rebalancer,
    reports: reporting.reports,
    narrator: reporting.narrator,
    probe,
    isReadOnly,
    duties: [
      ...rebalancing.duties,
      ...(drought === undefined ? [] : [() => drought.bulletins.lead()]),
      ...admissions.duties,
      () => {
        observation?.led();
        return () => undefined;
      },
    ],
    queue: { name: 'workload', workers: values.controller.workers },
    components: [
      ...(ledger === undefined ? [] : [{ name: 'ledger', stop: () => ledger.close() }]),
      ...(observation === undefined ? [] : [observation]),
    ],
    notes: ledger === undefined ? { ledger: EMBEDDED } : {},
    known: () => ({
      ledger: ledger?.health() ?? 'inside the webhook',
      observation: observation?.state() ?? null,
      webhook: bypass.state ?? probe.health,
    }),
    resyncPeriodMs: values.controller.resyncPeriod,
    random: Math.random,
  });
}
