import { setTimeout as pause } from 'node:timers/promises';
import { reasonTraits } from '@spotalis/core';
import { KubeError } from '@spotalis/kube';
import { type Command, type CommandContext, outputFlag } from '../command/command.ts';
import { exitCodes } from '../command/error.ts';
import { takeSurvey } from '../cluster/take.ts';
import type { Survey } from '../cluster/survey.ts';
import { documentOf, type Format, formatOf, type Output, span } from '../output/output.ts';
import { table } from '@spotalis/units';
import { type StatusRow, statusRows } from './row.ts';

const WATCH_MS = 2_000;

export const statusCommand: Command = {
  name: 'status',
  summary: 'how each workload is split, against what it asks for',
  details:
    'SPOT and ON-DEMAND are pods there are of pods there should be. DRIFT is the number of moves needed: spot pods too many\n(+) or too few (-). STATE is why nothing is moved, or what is; with `spot dry` or\n`spot tried again` the leading controller tells of a drought. Listed are workloads with the label or an annotation\nunder spotalis.io/ of their own, managed or not.',
  positionals: { usage: '', least: 0, most: 0 },
  flags: [
    { name: 'all-namespaces', short: 'A', doc: 'of all namespaces' },
    { name: 'watch', short: 'w', doc: 'again every two seconds, until Ctrl-C' },
    outputFlag,
  ],
  examples: [
    'kubectl spotalis status -n shop',
    'kubectl spotalis status -A -o wide',
    'kubectl spotalis status -A -o json',
  ],
  lasts: ({ has }) => has('watch'),
  async run(context) {
    await show(context);
    while (context.has('watch') && (await next(context.signal))) await showAgain(context);
    return exitCodes.done.code;
  },
};

/** False when it was told to stop. */
const next = (signal: AbortSignal): Promise<boolean> => pause(WATCH_MS, true, { signal }).catch(() => false);

/** A failure that may pass is told below what was last seen, which stays. */
async function showAgain(context: CommandContext): Promise<void> {
  try {
    await show(context);
  } catch (error) {
    if (!(error instanceof KubeError && error.retryable)) throw error;
    context.out.note(`error: ${error.message}. Asking again every ${span(WATCH_MS)}.`);
  }
}

async function show({ out, session, has, value, nowMs, signal }: CommandContext): Promise<void> {
  const opened = session();
  const format = formatOf(value('output'));
  const survey = await takeSurvey(opened, signal);
  const rows = statusRows(survey, has('all-namespaces') ? undefined : opened.namespace, nowMs());
  const droughtsToldBy = survey.droughts.told.map(({ writer, writtenAtMs }) => ({
    writer,
    at: new Date(writtenAtMs).toISOString(),
  }));
  const document = documentOf(format, { workloads: rows, droughtsToldBy, notes: survey.notes });
  if (has('watch') && out.width !== undefined) out.write('\u001b[H\u001b[2J');
  if (document !== undefined) {
    out.write(document);
    return;
  }
  if (survey.webhook.kind === 'notServing') out.note(`The webhook does not serve: ${survey.webhook.detail}.`);
  for (const note of survey.notes) out.note(`Note: ${note}`);
  const news = droughtNote(rows, survey, nowMs());
  if (news !== null) out.note(news);
  if (rows.length > 0) out.write(statusTable(rows, format, out));
  else {
    const where = has('all-namespaces') ? 'in any namespace' : `in namespace ${opened.namespace}`;
    out.note(
      `Nothing is managed ${where}. Begin with: kubectl spotalis enable deployment/NAME --spot-percentage 70`,
    );
  }
}

/** One line for all of them; what is told of each is in its row. */
export function droughtNote(
  rows: readonly StatusRow[],
  { droughts: { told } }: Survey,
  nowMs: number,
): string | null {
  const since = rows.flatMap(({ drought }) => (drought === null ? [] : [Date.parse(drought.since)]));
  if (since.length === 0) return null;
  const tellers = told.map(({ writer, writtenAtMs }) => `${writer} told ${span(nowMs - writtenAtMs)} ago`);
  const whose = since.length === 1 ? '1 workload' : `${since.length} workloads`;
  return `No spot capacity for ${whose}, for ${span(nowMs - Math.min(...since))} at the longest, as ${tellers.join(' and ')}.`;
}

const header = ['NAMESPACE', 'WORKLOAD', 'POLICY', 'REPLICAS', 'SPOT', 'ON-DEMAND', 'DRIFT', 'STATE'];

export function statusTable(
  rows: readonly StatusRow[],
  format: Format,
  { style, width }: Pick<Output, 'style' | 'width'>,
): string {
  const isWide = format === 'wide';
  const cells = rows.map(({ namespace, workload, policy, replicas, pods, drought, state, why }) => {
    const drift = pods === null ? '-' : pods.drift > 0 ? `+${pods.drift}` : String(pods.drift);
    const beside = [
      ...(drought === null ? [] : [`spot ${drought.state === 'open' ? 'dry' : 'tried again'}`]),
      ...(pods !== null && pods.substitutes > 0 ? [`${pods.substitutes} substitutes`] : []),
    ];
    const shown = beside.length === 0 ? state : `${state} (${beside.join(', ')})`;
    const colour = reasonTraits[state].calm === true && drought === null ? style.good : style.bad;
    return [
      namespace,
      workload,
      policy,
      String(replicas),
      pods === null ? '-' : `${pods.spot}/${pods.targetSpot}`,
      pods === null ? '-' : `${pods.onDemand}/${pods.targetOnDemand}`,
      drift,
      colour(shown),
      ...(isWide ? [why] : []),
    ];
  });
  return table(isWide ? [...header, 'WHY'] : header, cells, { width, faint: style.faint });
}
