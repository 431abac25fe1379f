import { parseDuration } from '@spotalis/units';
import { footprintOf, toldOf } from '../cluster/events.ts';
import type { Session } from '../cluster/session.ts';
import type { Survey } from '../cluster/survey.ts';
import { takeSurvey } from '../cluster/take.ts';
import { type Command, type Invocation, documentFlag } from '../command/command.ts';
import { CliError, exitCodes } from '../command/error.ts';
import { readTarget, workloadNamed } from '../explain/target.ts';
import { documentOf, formatOf } from '../output/output.ts';
import { type Pace, paceOf } from './pace.ts';
import { numberFlags, previewOf, previewText, readChange } from './preview.ts';

export const planCommand: Command = {
  name: 'plan',
  summary: 'what a change would do: the moves, their order, how long, and whether the floor is kept',
  details:
    "Nothing is changed. The controller's own decisions are made one after another, each on what the one before would leave\nbehind. A pod that is being replaced now is counted. Without a flag: what is going to happen to the workload as it is.",
  positionals: { usage: 'deployment/NAME | statefulset/NAME', least: 1, most: 1, complete: 'workload' },
  flags: [
    ...numberFlags,
    { name: 'replicas', value: 'NUMBER', doc: 'the number of replicas', example: '20' },
    {
      name: 'ready-after',
      value: 'DURATION',
      doc: 'how long a new pod takes until it is Ready; default: the median of those there are',
      example: '45s',
    },
    documentFlag,
  ],
  examples: [
    'kubectl spotalis plan deployment/web --spot-percentage 80',
    'kubectl spotalis plan deployment/web --min-on-demand 4 --replicas 20',
  ],
  async run({ out, session, nowMs, signal, ...given }) {
    const change = readChange(given);
    const readyAfterMs = readDuration(given);
    const [text = ''] = given.positionals;
    const named = readWorkload(text);
    const opened = session();
    const survey = await takeSurvey(opened, signal);
    const workload = workloadNamed(survey, named, opened.namespace);
    const pace = await chosenPace(opened, survey, workload, readyAfterMs);
    const told = await toldOf(opened.client, workload);
    const atMs = nowMs();
    const footprint = footprintOf(told, survey, workload, atMs);
    const preview = previewOf(survey, workload, { change, pace, footprint, nowMs: atMs });
    const document = documentOf(formatOf(given.value('output')), preview);
    out.write(document ?? previewText(preview, out, atMs));
    if (document === undefined) for (const note of survey.notes) out.note(`Note: ${note}`);
    return preview.plan.outcome === 'reached' ? exitCodes.done.code : exitCodes.no.code;
  },
};

export function readWorkload(text: string) {
  const { kind, name } = readTarget(text, ['Deployment', 'StatefulSet']);
  // Allowed are these two.
  return { kind: kind === 'StatefulSet' ? kind : ('Deployment' as const), name };
}

function readDuration({ value }: Invocation): number | undefined {
  const text = value('ready-after');
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== null && ms >= 0) return ms;
  throw new CliError('USAGE', `--ready-after ${text}: is not a duration`, 'Example: --ready-after 45s');
}

export async function chosenPace(
  { client }: Session,
  survey: Survey,
  workload: Parameters<Survey['podsOf']>[0],
  givenMs: number | undefined,
): Promise<Pace> {
  return givenMs === undefined ? paceOf(client, survey.podsOf(workload)) : { ms: givenMs, origin: 'given' };
}
