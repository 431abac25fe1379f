import { accountOf, explainPod, type ObservedPod, type PodAccount } from '@spotalis/core';
import { footprintOf, toldOf } from '../cluster/events.ts';
import type { Session } from '../cluster/session.ts';
import type { Survey } from '../cluster/survey.ts';
import { takeSurvey } from '../cluster/take.ts';
import { type Command, documentFlag } from '../command/command.ts';
import { exitCodes } from '../command/error.ts';
import { documentOf, formatOf, type Output } from '../output/output.ts';
import { wrapped } from '../output/wrapped.ts';
import { subjectOf } from '../status/row.ts';
import { podNamed, readTarget, workloadNamed } from './target.ts';
import { droughtParagraph, type Explanation, explainWorkload } from './workload.ts';

export const explainCommand: Command = {
  name: 'explain',
  summary: 'why a pod is where it is, or what is decided about a workload',
  details:
    "The controller's own decision, made anew from the same rules. What only the controller knows (the ledger, moves of this\nmoment, whether webhooks have the same `defaults`) is taken from pods and Events, and droughts from what it tells in the\nConfigMap spotalis-droughts.",
  positionals: {
    usage: 'pod/NAME | deployment/NAME | statefulset/NAME',
    least: 1,
    most: 1,
    complete: 'workload-or-pod',
  },
  flags: [documentFlag],
  examples: ['kubectl spotalis explain deployment/web', 'kubectl spotalis explain pod/web-0 -o json'],
  async run({ out, session, positionals: [text = ''], value, nowMs, signal }) {
    const named = readTarget(text, ['Pod', 'Deployment', 'StatefulSet']);
    const opened = session();
    const survey = await takeSurvey(opened, signal);
    const { kind, name } = named;
    const explanation =
      kind === 'Pod'
        ? await tellPod(opened, survey, podNamed(survey, name, opened.namespace), nowMs())
        : await tellWorkload(opened, survey, { kind, name }, nowMs());
    out.write(documentOf(formatOf(value('output')), explanation) ?? explanationText(explanation, out));
    if (formatOf(value('output')) === 'table') for (const note of survey.notes) out.note(`Note: ${note}`);
    return exitCodes.done.code;
  },
};

async function tellWorkload(
  { client, namespace }: Session,
  survey: Survey,
  named: { readonly kind: 'Deployment' | 'StatefulSet'; readonly name: string },
  nowMs: number,
): Promise<Explanation> {
  const workload = workloadNamed(survey, named, namespace);
  const told = await toldOf(client, workload);
  return explainWorkload(survey, workload, {
    footprint: footprintOf(told, survey, workload, nowMs),
    told,
    nowMs,
  });
}

async function tellPod({ client }: Session, survey: Survey, pod: ObservedPod, nowMs: number) {
  const workload = survey.ownerOf(pod);
  const told = workload === undefined ? [] : await toldOf(client, workload);
  const footprint = workload && footprintOf(told, survey, workload, nowMs);
  return podExplanation(survey, pod, footprint, nowMs);
}

export type PodExplanation = Explanation & { readonly account: PodAccount | null };

export function podExplanation(
  survey: Survey,
  pod: ObservedPod,
  footprint: Parameters<Survey['snapshotOf']>[1],
  nowMs: number,
): PodExplanation {
  const { name, namespace = '' } = pod.metadata;
  const workload = survey.ownerOf(pod);
  const snapshot = workload === undefined ? null : survey.snapshotOf(workload, footprint);
  const account = snapshot === null ? null : accountOf(snapshot, name, nowMs);
  const own = account === null ? [] : explainPod(account);
  const sentences =
    workload === undefined
      ? [`${name} is left alone: neither a Deployment nor a StatefulSet made it.`]
      : account === null
        ? [`${name} is on its way out, so it counts no more.`]
        : own;
  return {
    subject: `pod/${name}`,
    namespace,
    paragraphs: [
      { title: workload === undefined ? 'Pod' : `Pod of ${subjectOf(workload)}`, sentences },
      ...(snapshot === null ? [] : droughtParagraph(snapshot, survey, nowMs)),
    ],
    decision: account?.decision ?? null,
    account,
    notes: survey.notes,
  };
}

export function explanationText(
  { subject, namespace, paragraphs }: Explanation,
  { style, width }: Pick<Output, 'style' | 'width'>,
): string {
  const told = paragraphs.map(({ title, sentences }) =>
    [style.strong(title), ...sentences.map((sentence) => `  ${wrapped(sentence, width, '  ')}`)].join('\n'),
  );
  return [`${style.strong(subject)} in ${namespace}`, '', told.join('\n\n')].join('\n');
}
