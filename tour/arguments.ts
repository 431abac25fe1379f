import { parseArgs } from 'node:util';
import { scenes } from './scenes/catalogue.ts';
import type { Scene } from './scenes/scene.ts';

export interface Plan {
  readonly programme: Programme;
  readonly redis: 'any' | 'real' | 'memory';
  readonly kubeconfig: string | undefined;
  readonly host: string | undefined;
}

/** What to do once everything is up. */
export type Programme =
  /** Until Ctrl-C, with the menu on a terminal. */
  | { readonly kind: 'stay' }
  | { readonly kind: 'settle' }
  | { readonly kind: 'play'; readonly scenes: readonly Scene[]; readonly record: string | undefined };

const sceneNames = scenes.map(({ name }) => name).join(', ');

export const usage = `npm start                            a live cluster and a menu of things to do to it, until Ctrl-C
npm start -- --exit-when-settled     ends once every sample workload is on target
npm start -- --scene NAME            plays one scene and ends: ${sceneNames}, or all
             --record FILE           and makes an SVG of it that moves
npm start -- --redis real|memory     insists on a real Redis, or on the embedded ledger
npm start -- --kubeconfig FILE       on this cluster, whose nodes carry karpenter.sh/capacity-type
             --host ADDRESS          where its API server finds this machine; 127.0.0.1 without it
`;

/** undefined when only the usage was asked for. */
export function readArguments(args: readonly string[]): Plan | undefined {
  const { values } = parse(args);
  if (values.help) return undefined;
  const { redis, kubeconfig, host } = values;
  if (redis !== 'any' && redis !== 'real' && redis !== 'memory') {
    throw new Error(`--redis is real or memory, not '${redis}'`);
  }
  const programme = readProgramme(values);
  if (programme.kind === 'play' && kubeconfig !== undefined) {
    throw new Error(
      '--scene does things to nodes and processes that --kubeconfig has no hold of: use one of them',
    );
  }
  return { programme, redis, kubeconfig, host };
}

function readProgramme(values: ReturnType<typeof parse>['values']): Programme {
  const { scene: wanted, record, 'exit-when-settled': settle } = values;
  if (wanted === undefined) {
    if (record !== undefined) throw new Error('--record needs a scene to record: --scene all, for example');
    return { kind: settle ? 'settle' : 'stay' };
  }
  if (settle) throw new Error('--scene ends by itself: leave --exit-when-settled out');
  const chosen = wanted === 'all' ? scenes : scenes.filter(({ name }) => name === wanted);
  if (chosen.length === 0) throw new Error(`there is no scene '${wanted}'; there are ${sceneNames}, and all`);
  return { kind: 'play', scenes: chosen, record };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        'exit-when-settled': { type: 'boolean', default: false },
        scene: { type: 'string' },
        record: { type: 'string' },
        redis: { type: 'string', default: 'any' },
        kubeconfig: { type: 'string' },
        host: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    // Node goes on with advice about positional arguments.
    const [sentence] = String(error instanceof Error ? error.message : error).split(/\.\s|\n/);
    throw new Error(`${sentence}: npm start -- --help shows what there is`, { cause: error });
  }
}
