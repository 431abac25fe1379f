import type { EventSpec } from '@spotalis/kube';

/** The Events of one service, as its package declares them. */
export interface ServiceEvents {
  readonly service: string;
  readonly events: Readonly<Record<string, EventSpec>>;
}

/** Why a module does something, or does not. */
type Reasons = Readonly<Record<string, { readonly means: string; readonly remedy: string | null }>>;

/** docs/reasons.md: what is decided about workloads, and what people are told of it. */
export function reasonsReference(modules: readonly Reasons[], services: readonly ServiceEvents[]): string {
  const events = services.flatMap(({ service, events: its }) =>
    Object.entries(its).map(([name, { type, on, when }]) => [`\`${name}\``, type, service, on, when]),
  );
  return [
    introduction,
    ...modules.map(reasonTable),
    '## Events',
    eventsIntroduction,
    `${table(['Event', 'Type', 'By', 'On', 'When'], events)}\n`,
  ].join('\n\n');
}

const introduction = `# Reasons and Events

<!-- Written by scripts/generate-docs.mjs from the reasons and Events that modules and services declare. -->

Whatever the leader decides about a workload has one reason. [\`kubectl spotalis\`](cli.md) \`status\` has it under STATE,
\`explain\` in a sentence with its facts, the leader's [\`/debug/state\`](runbooks.md) for all workloads. A workload with
drift that begins to be held counts in \`spotalis_moves_blocked_total\` under its reason.

Two are surprising at first: the only replica of a workload is not moved unless \`rebalance.allowSingleReplica\` says so
(\`SingleReplica\`), and a template with a \`hostPort\`, required podAffinity, or required podAntiAffinity to pods of other
kinds is never moved (\`NotProvable\`). New pods of both are placed as of any other.

## Reasons

In the order in which they are looked for; the last four are those of moves.`;

const eventsIntroduction = `\`MoveBlocked\` is for obstacles that last. A reason that comes and goes with each move, ends by itself or was asked for (a
window, a pause, a cooldown, a rollout) has none. An Event about a Namespace is in \`default\`, with \`scope.namespaces\` in
that namespace itself.`;

const reasonTable = (reasons: Reasons): string =>
  table(
    ['Reason', 'Means', 'What to do'],
    Object.entries(reasons).map(([reason, { means, remedy }]) => [`\`${reason}\``, means, remedy ?? '']),
  );

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |');
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)].join('\n');
}
