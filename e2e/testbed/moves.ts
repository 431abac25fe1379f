import { type KubeObject, waitFor } from '@spotalis/cluster';
import { policyKeys } from '@spotalis/core';
import type { Workload } from '../workloads/workload.ts';
import type { Testbed } from './testbed.ts';

interface Verdict {
  readonly verdict: string;
  readonly reason: string;
  readonly text: string;
}

interface DebugState {
  readonly leader: { readonly isLeader: boolean };
  readonly webhook: { readonly kind: string; readonly detail?: string };
  readonly movesInFlight: readonly object[];
  readonly workloads: Readonly<Record<string, { readonly rebalance?: Verdict }>>;
}

/** The controller that says it leads, with what it says; undefined while there is none. */
async function leaderOf({ installation }: Testbed) {
  for (const { debugPort, component } of installation.controllers) {
    const answer = await fetch(`http://127.0.0.1:${debugPort}/debug/state`).catch(() => undefined);
    const state = (await answer?.json()) as DebugState | undefined;
    if (state?.leader.isLeader === true) return { component, state };
  }
  return undefined;
}

/** kill -9. */
export async function killLeader(testbed: Testbed): Promise<void> {
  const leader = await waitFor('a leader', () => leaderOf(testbed));
  await leader.component.kill('SIGKILL');
}

/** What the leader thinks of a workload now; undefined while there is no leader, or it has not looked yet. */
async function verdictOf(testbed: Testbed, subject: string): Promise<Verdict | undefined> {
  return (await leaderOf(testbed))?.state.workloads[subject]?.rebalance;
}

/** Waits until the leader gives this reason for what it does, or does not do. */
export async function verdictOn(testbed: Testbed, workload: Workload, reason: string): Promise<void> {
  let last: Verdict | undefined;
  await waitFor(
    `${workload.subject} to be ${reason}`,
    async () => {
      last = await verdictOf(testbed, workload.subject);
      return last?.reason === reason;
    },
    { timeoutMs: 90_000, intervalMs: 200 },
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; it is ${JSON.stringify(last)}`);
  });
}

/**
 * Has the leader decide so many times anew, each time for this reason. In between the workload is paused, so that each
 * decision is seen; other changes of it would have to settle first.
 */
export async function decidedOften(
  testbed: Testbed,
  workload: Workload,
  reason: string,
  times: number,
): Promise<void> {
  const pause = (paused: 'true' | null) =>
    workload.patch({ metadata: { annotations: { [policyKeys.paused]: paused } } });
  await verdictOn(testbed, workload, reason);
  for (let turn = 1; turn < times; turn++) {
    await pause('true');
    await verdictOn(testbed, workload, 'Paused');
    await pause(null);
    await verdictOn(testbed, workload, reason);
  }
}

/** Waits until the leader gives this reason for each of many. */
export async function verdictOnAll(
  testbed: Testbed,
  workloads: readonly Workload[],
  reason: string,
): Promise<void> {
  await waitFor(
    `all ${workloads.length} to be ${reason}`,
    async () => {
      const state = (await leaderOf(testbed))?.state;
      const shown = workloads.map(({ subject }) => state?.workloads[subject]?.rebalance?.reason ?? 'unknown');
      return { shown: counted(shown), webhook: state?.webhook, movesInFlight: state?.movesInFlight };
    },
    { timeoutMs: 90_000, intervalMs: 500, until: ({ shown }) => shown[reason] === workloads.length },
  );
}

function counted(texts: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}

/** Waits until the leader thinks this of the webhook: `serving`, or why not. */
export async function webhookSeen(testbed: Testbed, how: RegExp): Promise<void> {
  await waitFor(
    `the webhook to be ${how.source}`,
    async () => {
      const webhook = (await leaderOf(testbed))?.state.webhook;
      return webhook && `${webhook.kind} ${webhook.detail ?? ''}`;
    },
    { timeoutMs: 60_000, until: (seen) => seen !== undefined && how.test(seen) },
  );
}

interface DroughtLine {
  readonly message: string;
  readonly workload: string;
  readonly reason: string;
  readonly by?: string;
  readonly told?: boolean;
}

/** What the controllers said of the droughts of a workload, in order: between beginning and end only their logs do. */
export function droughtOf({ installation }: Testbed, { subject }: Workload): readonly DroughtLine[] {
  return installation.controllers
    .flatMap(({ component }) => component.log(20_000).split('\n'))
    .flatMap((line) => (line.includes('"message":"drought"') ? [JSON.parse(line) as DroughtLine] : []))
    .filter(({ workload }) => workload === subject);
}

interface Event extends KubeObject {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly name: string };
}

/** The Events on a workload with one reason. A repeated one is one. */
export async function eventsOn(
  testbed: Testbed,
  workload: Workload,
  reason: string,
): Promise<readonly Event[]> {
  const [namespace, name] = workload.path.split('/');
  const events = await testbed.cluster.api.list<Event>('events.k8s.io/v1/Event', {
    ...(namespace !== undefined && { namespace }),
  });
  return events.filter((event) => event.regarding.name === name && event.reason === reason);
}
