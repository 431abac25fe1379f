import { decide, enabledLabel, type ObservedWorkload, outOfScope } from '@spotalis/core';
import type { Session } from '../cluster/session.ts';
import { noFootprint, type Survey } from '../cluster/survey.ts';
import { takeSurvey } from '../cluster/take.ts';
import type { Command, CommandContext, Flag } from '../command/command.ts';
import { CliError, exitCodes } from '../command/error.ts';
import { workloadNamed } from '../explain/target.ts';
import { chosenPace, readWorkload } from '../plan/plan.ts';
import { annotationsOf, numberFlags, previewOf, previewText, readChange } from '../plan/preview.ts';
import { subjectOf } from '../status/row.ts';
import { apply, commandsOf, disabling, type Edit, enabling } from './change.ts';

const consent: readonly Flag[] = [
  { name: 'yes', short: 'y', doc: 'does it; without it nothing is changed' },
  { name: 'dry-run', doc: 'has the API server check it, and changes nothing' },
];

const positionals = {
  usage: 'deployment/NAME | statefulset/NAME',
  least: 1,
  most: 1,
  complete: 'workload',
} as const;

export const enableCommand: Command = {
  name: 'enable',
  summary: 'puts a workload under management, after a preview',
  details:
    'Writes the label spotalis.io/enabled: "true" on the workload and, where it is missing, on its namespace, and the numbers\nthat were given. Shows the plan first.',
  positionals,
  flags: [...numberFlags, ...consent],
  examples: [
    'kubectl spotalis enable deployment/web --spot-percentage 70 --min-on-demand 2',
    'kubectl spotalis enable deployment/web --spot-percentage 70 --yes',
  ],
  async run(context) {
    const { out, nowMs } = context;
    const change = readChange({
      ...context,
      value: (flag) => (flag === 'replicas' ? undefined : context.value(flag)),
    });
    const { opened, survey, workload } = await open(context);
    const managed = survey.managedOf(workload);
    if (!managed.managed && outOfScope[managed.reason] !== null) {
      throw new CliError(
        'REFUSED',
        `the configuration (${survey.settings.origin}) keeps out namespace ${opened.namespace}`,
        'Change scope in the configuration first.',
      );
    }
    const pace = await chosenPace(opened, survey, workload, undefined);
    const preview = previewOf(survey, workload, { change, pace, footprint: noFootprint, nowMs: nowMs() });
    out.write(previewText(preview, out, nowMs()));
    if (preview.plan.last.reason === 'NoPolicy') {
      throw new CliError(
        'USAGE',
        'a workload without a policy would not be touched',
        'Example: kubectl spotalis enable deployment/web --spot-percentage 70',
      );
    }
    for (const note of survey.notes) out.note(`Note: ${note}`);
    const edits = enabling(survey, workload, annotationsOf(change));
    if (edits.some(({ kind }) => kind === 'Namespace')) tellNeighbours(context, survey, workload);
    return carryOut(context, opened, edits);
  },
};

export const disableCommand: Command = {
  name: 'disable',
  summary: 'takes a workload out of management, after a preview; its pods stay where they are',
  details:
    'Takes the label spotalis.io/enabled away from the workload. Its annotations stay, for another time.',
  positionals,
  flags: consent,
  examples: ['kubectl spotalis disable deployment/web', 'kubectl spotalis disable deployment/web --yes'],
  async run(context) {
    const { opened, survey, workload } = await open(context);
    const { standing } = decide(survey.snapshotOf(workload), context.nowMs());
    const pods =
      standing === null
        ? ''
        : ` ${standing.counts.spot} on spot and ${standing.counts.onDemand} on on-demand,`;
    context.out.write(
      `${context.out.style.strong(subjectOf(workload))}: its pods stay where they are,${pods} and new ones go wherever the scheduler sends them.`,
    );
    return carryOut(context, opened, disabling(workload));
  },
};

async function open({ session, positionals: [text = ''], signal }: CommandContext) {
  const named = readWorkload(text);
  const opened = session();
  const survey = await takeSurvey(opened, signal);
  return { opened, survey, workload: workloadNamed(survey, named, opened.namespace) };
}

/** The label on a namespace brings in every workload there that carries its own. */
function tellNeighbours({ out }: CommandContext, survey: Survey, { metadata }: ObservedWorkload): void {
  const others = survey.workloads.filter(
    (other) =>
      other.metadata.namespace === metadata.namespace &&
      other.metadata.uid !== metadata.uid &&
      other.labels[enabledLabel] === 'true',
  );
  if (others.length === 0) return;
  out.write(`\nThe namespace's label puts these under management, too: ${others.map(subjectOf).join(', ')}.`);
}

async function carryOut(
  { out, has }: CommandContext,
  { client }: Session,
  edits: readonly Edit[],
): Promise<number> {
  if (edits.length === 0) {
    out.write('\nNothing is to be changed.');
    return exitCodes.done.code;
  }
  out.write(['', 'The same as:', ...edits.flatMap(commandsOf).map((command) => `  ${command}`)].join('\n'));
  if (has('dry-run')) {
    await apply(client, edits, true);
    out.note('The API server would accept it. Nothing was changed.');
    return exitCodes.done.code;
  }
  if (!has('yes')) {
    out.note('Nothing was changed. Say --yes to do it.');
    return exitCodes.no.code;
  }
  await apply(client, edits, false);
  out.note('Done.');
  return exitCodes.done.code;
}
