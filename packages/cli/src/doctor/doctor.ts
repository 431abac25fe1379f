import { type Command, documentFlag } from '../command/command.ts';
import { exitCodes } from '../command/error.ts';
import { documentOf, formatOf, type Output } from '../output/output.ts';
import { wrapped } from '../output/wrapped.ts';
import { examine } from './catalogue.ts';
import { type Finding, isFault, type Severity } from './finding.ts';
import { knownTable } from './known.ts';
import { takePicture } from './picture/take.ts';

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'what is wrong with the installation, its workloads and their policies, and what to do about it',
  details:
    'Reads only, and works while the services are down. Each finding is an error (something does not work), a warning\n(something is not as it was asked for) or an info (it may be meant so). Exit code 3 when there is an error or a warning.',
  positionals: { usage: '', least: 0, most: 0 },
  flags: [documentFlag],
  examples: ['kubectl spotalis doctor', 'kubectl spotalis doctor -o json'],
  reference: knownTable,
  async run({ out, session, value, nowMs, signal }) {
    const { picture, notes } = await takePicture(session(), signal, nowMs);
    const findings = examine(picture);
    const document = documentOf(formatOf(value('output')), { findings, notes });
    if (document === undefined) for (const note of notes) out.note(`Note: ${note}`);
    out.write(document ?? findingsText(findings, out));
    return findings.some(isFault) ? exitCodes.no.code : exitCodes.done.code;
  },
};

const severities: readonly Severity[] = ['error', 'warning', 'info'];

/** As in `1 error, 2 warnings`. */
const totals = (findings: readonly Finding[]): string =>
  severities
    .map((severity) => ({
      severity,
      count: findings.filter((finding) => finding.severity === severity).length,
    }))
    .filter(({ count }) => count > 0)
    .map(({ severity, count }) => `${count} ${severity}${count === 1 ? '' : 's'}`)
    .join(', ');

export function findingsText(
  findings: readonly Finding[],
  { style, width }: Pick<Output, 'style' | 'width'>,
): string {
  if (findings.length === 0) return style.good('Nothing is wrong.');
  const lines = findings.map(({ id, severity, object, what, why, remedy }) => {
    const colour = severity === 'info' ? style.faint : style.bad;
    return [
      `${colour(severity)}  ${style.strong(object)}  ${style.faint(id)}`,
      ...Object.entries({ What: what, Why: why, Do: remedy }).map(
        // A command stays on one line, to be copied.
        ([label, text]) =>
          `  ${`${label}:`.padEnd(6)}${label === 'Do' ? text : wrapped(text, width, '        ')}`,
      ),
    ].join('\n');
  });
  return [...lines, totals(findings)].join('\n\n');
}
