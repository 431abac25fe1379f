import { type RawObject, type Resource, resource } from '@spotalis/kube';
import type { Session } from '../cluster/session.ts';
import { type Command, type Flag, flagsOf } from '../command/command.ts';

/** A shell waits for this: what takes longer is left out. */
const DEADLINE_MS = 2_000;
const LIMIT = 500;

const kinds: Readonly<Record<string, Resource>> = {
  deployment: resource('apps/v1', 'deployments', 'Deployment'),
  statefulset: resource('apps/v1', 'statefulsets', 'StatefulSet'),
  pod: resource('v1', 'pods', 'Pod'),
};

/** What can come next; the last word is the one being typed, perhaps empty. Never throws. */
export async function candidates(
  words: readonly string[],
  commands: readonly Command[],
  open: (given: ReadonlyMap<string, string>) => Session,
): Promise<readonly string[]> {
  const [name = '', ...rest] = words;
  const typed = words.at(-1) ?? '';
  const startsSo = (word: string): boolean => word.startsWith(typed);
  if (rest.length === 0) return commands.map((command) => command.name).filter(startsSo);
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return [];
  const flags = flagsOf(command);
  const before = flagOf(flags, rest.at(-2));
  if (before?.value !== undefined) {
    if (before.choices !== undefined) return before.choices.filter(startsSo);
    if (before.name !== 'namespace') return [];
    return (await names(resource('v1', 'namespaces', 'Namespace'), rest, flags, open)).filter(startsSo);
  }
  if (typed.startsWith('-')) return flags.map((flag) => `--${flag.name}`).filter(startsSo);
  const { choices, complete } = command.positionals;
  if (choices !== undefined) return choices.filter(startsSo);
  if (complete === undefined) return [];
  const known = complete === 'workload' ? ['deployment', 'statefulset'] : Object.keys(kinds);
  const [kind = ''] = typed.split('/');
  const of = typed.includes('/') && known.includes(kind) ? kinds[kind] : undefined;
  if (of === undefined) return known.map((one) => `${one}/`).filter(startsSo);
  return (await names(of, rest, flags, open)).map((one) => `${kind}/${one}`).filter(startsSo);
}

const flagOf = (flags: readonly Flag[], word = ''): Flag | undefined =>
  flags.find(({ name, short }) => word === `--${name}` || (short !== undefined && word === `-${short}`));

async function names(
  of: Resource,
  words: readonly string[],
  flags: readonly Flag[],
  open: (given: ReadonlyMap<string, string>) => Session,
): Promise<readonly string[]> {
  const given = new Map<string, string>();
  for (const [index, word] of words.entries()) {
    const flag = flagOf(flags, word);
    const value = words[index + 1];
    if (flag?.value !== undefined && value !== undefined) given.set(flag.name, value);
  }
  try {
    const session = open(given);
    try {
      const isNamespace = of.kind === 'Namespace';
      const query = {
        limit: LIMIT,
        view: 'metadata',
        ...(!isNamespace && { namespace: session.namespace }),
      } as const;
      const page = await session.client.list<RawObject>(of, query, { once: true, deadlineMs: DEADLINE_MS });
      return page.items.map(({ metadata }) => metadata.name);
    } finally {
      await session.close();
    }
  } catch {
    // Where the cluster does not answer there is nothing to offer.
    return [];
  }
}
