import { type ApiClient, waitFor } from '@spotalis/cluster';
import { plain, type Style, styleFor } from '@spotalis/units';
import type { Plan } from './arguments.ts';
import type { Leave } from './interruption.ts';
import { keysPressed } from './keys.ts';
import { renderMenu } from './menu.ts';
import { observe, observeAll } from './observation.ts';
import { opening, perform } from './performance.ts';
import { findPlace, type Place } from './place.ts';
import { Recording } from './recording.ts';
import { sampleManifests } from './samples.ts';
import { scenes } from './scenes/catalogue.ts';
import type { Scene } from './scenes/scene.ts';
import { Playground } from './scenes/playground.ts';
import { Screen } from './screen.ts';
import { isSettled, type Row, renderTable } from './table.ts';

const settleTimeoutMs = 180_000;
const refreshMs = 250;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export async function tour(plan: Plan, leave: Leave): Promise<void> {
  const place = await findPlace(plan, leave, say);
  const { api } = place.target;
  await api.apply(sampleManifests);
  switch (plan.programme.kind) {
    case 'settle':
      return settle(api);
    case 'play':
      return play(place, plan.programme);
    case 'stay':
      return stay(place, leave);
  }
}

async function settle(api: ApiClient): Promise<void> {
  const began = performance.now();
  const rows = await waitFor(
    'the sample workloads to be on target',
    async () => {
      const now = await observe(api);
      return now.every(isSettled) ? now : undefined;
    },
    { timeoutMs: settleTimeoutMs, intervalMs: refreshMs },
  );
  say(renderTable(rows, plain));
  say(`Settled ${((performance.now() - began) / 1000).toFixed(1)} s after the workloads were applied.`);
}

/** Scenes one after another, without anybody at the keyboard. */
async function play(
  place: Place,
  { scenes: chosen, record }: { readonly scenes: readonly Scene[]; readonly record: string | undefined },
): Promise<void> {
  await settle(place.target.api);
  const playground = playgroundAt(place);
  const recording = record === undefined ? undefined : new Recording();
  const notes: string[] = [];
  const stopDrawing =
    recording &&
    drawInto(
      (table) => recording.add([table, ...notes].join('\n')),
      () => observe(place.target.api),
    );
  const tell = (line: string): void => {
    say(line);
    notes.push(line);
  };
  let failed = 0;
  for (const scene of chosen) {
    tell(opening(scene));
    const { off, account } = await perform(scene, playground);
    tell(account);
    if (off > 0) failed += 1;
  }
  await stopDrawing?.();
  if (recording && record) {
    await recording.save(record);
    say(`Recorded in ${record}.`);
  }
  if (failed > 0) throw new Error(`${failed} of ${chosen.length} scenes ended off target`);
}

function playgroundAt({ own, redis, installation }: Place): Playground {
  if (own === undefined) throw new Error('scenes need a cluster of their own: leave --kubeconfig out');
  return new Playground({ cluster: own, redis, installation });
}

async function stay(place: Place, leave: Leave): Promise<void> {
  const { target, own } = place;
  say(`Use it yourself:  export KUBECONFIG=${target.kubeconfig}`);
  say('For example:      kubectl -n shop scale deployment web --replicas 40');
  say('Ask it:           packages/cli/dist/kubectl-spotalis.mjs status -A');
  say('A workload of your own with the label spotalis.io/enabled=true joins the table.');
  say('Ctrl-C ends it and leaves nothing behind.\n');
  const keys = own && keysPressed();
  if (!keys) {
    await showTable(target.api);
    return;
  }
  const playground = playgroundAt(place);
  const notes: string[] = [];
  let playing: Scene | undefined;
  const screen = new Screen();
  const stopDrawing = drawInto(
    (table) => screen.draw({ table, notes: notes.slice(-6), menu: renderMenu(scenes, playing) }),
    () => observeAll(target.api),
  );
  // Before anything else: the table would be drawn over the word that it ends.
  leave.later(async () => void stopDrawing());
  for await (const key of keys) {
    const scene = scenes[Number(key) - 1];
    if (scene === undefined || playing !== undefined) continue;
    playing = scene;
    // Goes on beside the keyboard: the table is to move while it plays.
    void perform(scene, playground)
      .then(({ account }) => notes.push(account))
      .catch((error: unknown) => notes.push(`${scene.name}: ${String(error)}`))
      .finally(() => {
        playing = undefined;
      });
  }
}

function tableNow(look: () => Promise<readonly Row[]>, style: Style): Promise<string> {
  return look().then(
    (rows) => renderTable(rows, style),
    (error: unknown) => `the API server does not answer: ${String(error)}`,
  );
}

/** Draws the table again and again until the returned function is called. */
function drawInto(draw: (table: string) => void, look: () => Promise<readonly Row[]>): () => Promise<void> {
  let going = true;
  const style = styleFor(true, process.env);
  const ended = (async () => {
    while (going) {
      const table = await tableNow(look, style);
      if (going) draw(table);
      await new Promise((resolve) => setTimeout(resolve, refreshMs));
    }
  })();
  return async () => {
    going = false;
    await ended;
  };
}

/** Where nobody can press a key: the table, whenever it changes. */
async function showTable(api: ApiClient): Promise<never> {
  const style = styleFor(process.stdout.isTTY, process.env);
  let before = '';
  for (;;) {
    const table = await tableNow(() => observeAll(api), style);
    if (table !== before) say(`${table}\n`);
    before = table;
    await new Promise((resolve) => setTimeout(resolve, refreshMs));
  }
}
