import type { Cell, Table } from '../bench.ts';
import { median, sum } from '../statistics.ts';
import type { PoolTrials } from './pool.ts';
import type { Drought, LaneName, Trial } from './trial.ts';

/** What the numbers were measured with. */
export interface Settings {
  readonly fallbackAfterSeconds: number;
  readonly from: number;
  readonly to: number;
  readonly droughtSeconds: number;
}

export interface Round {
  readonly drought: Drought;
  readonly trials: readonly Trial[];
}

const measures: readonly {
  readonly title: string;
  readonly of: (trials: readonly Trial[]) => Cell;
}[] = [
  {
    title: 'From the loss until every replica runs, s',
    of: medianOf(({ bridgedSeconds }) => bridgedSeconds),
  },
  { title: 'Waiting periods paid', of: medianOf(({ waitingPeriods }) => waitingPeriods) },
  { title: 'Pods that waited and were replaced', of: medianOf(({ stuckRemoved }) => stuckRemoved) },
  { title: 'Fewest replicas Ready', of: medianOf(({ fewestReady }) => fewestReady) },
  { title: 'Replica-seconds missing', of: medianOf((trial) => trial.missingReplicaSeconds) },
  { title: 'Substitutes', of: medianOf(({ substitutes }) => substitutes) },
  { title: 'From the return until the split is exact, s', of: medianOf(({ backSeconds }) => backSeconds) },
  { title: 'Evictions in vain, all rounds', of: (trials) => sum(trials.map(({ inVain }) => inVain)) },
  {
    title: 'Steps back on the way back, all rounds',
    of: (trials) => sum(trials.map(({ steppedBack }) => steppedBack)),
  },
];

export function droughtTables(rounds: readonly Round[], pool: PoolTrials, settings: Settings): Table[] {
  return [burstTable(rounds, settings), poolTable(pool, settings)];
}

function burstTable(rounds: readonly Round[], settings: Settings): Table {
  const { from, to, fallbackAfterSeconds, droughtSeconds } = settings;
  const calm = rounds.filter(({ drought }) => !drought.killsLeader);
  const columns = {
    spotalis: trialsOf(calm, 'spotalis'),
    killed: trialsOf(
      rounds.filter(({ drought }) => drought.killsLeader),
      'spotalis',
    ),
    never: trialsOf(rounds, 'never'),
  };
  return {
    title: `All spot nodes gone while ${from} replicas become ${to}`,
    method: `Medians; rounds: ${columns.spotalis.length} with the breaker, ${columns.killed.length} with kill -9 of the leader (lease 15 s) at the moment of the loss, ${columns.never.length} without the breaker, each side by side with one of the others. A new leader moves nothing in its first minute, which is part of its way back. spot-fallback-after ${fallbackAfterSeconds} s; spot was away for ${droughtSeconds} s or until all ran; rebalance.cooldown 100 ms, so that each move back takes what it takes to see that all has settled (3 s). Evictions from the API server's audit log.`,
    columns: [
      { key: 'measure', title: 'Measure' },
      { key: 'spotalis', title: 'With the breaker' },
      { key: 'killed', title: 'With it, leader killed' },
      { key: 'never', title: 'Without (`never`)' },
    ],
    rows: measures.map(({ title, of }) => ({
      measure: title,
      spotalis: of(columns.spotalis),
      killed: of(columns.killed),
      never: of(columns.never),
    })),
  };
}

function poolTable({ first, later, ...back }: PoolTrials, { fallbackAfterSeconds }: Settings): Table {
  return {
    title: 'Workloads of one placement, declared while there is no spot capacity',
    method: `The later ones as soon as every webhook takes the placement to be without capacity (spotalis_open_pools), to be compared with the first, which found out. spot-fallback-after ${fallbackAfterSeconds} s. Afterwards spot came back: ${back.substitutes} substitutes, split exactly after ${back.backSeconds.toFixed(1)} s, ${back.inVain} evictions in vain.`,
    columns: [
      { key: 'which', title: 'Workloads' },
      { key: 'workloads', title: 'Count' },
      { key: 'pods', title: 'Pods' },
      { key: 'stuckRemoved', title: 'Of them waited in vain' },
      { key: 'readySeconds', title: 'Until all ran, s' },
    ],
    rows: [
      { which: 'first', ...first },
      { which: 'later', ...later },
    ],
  };
}

const trialsOf = (rounds: readonly Round[], lane: LaneName): readonly Trial[] =>
  rounds.flatMap(({ trials }) => trials.filter((trial) => trial.lane === lane));

/** Null where it never happened. */
function medianOf(value: (trial: Trial) => number | null): (trials: readonly Trial[]) => Cell {
  return (trials) => {
    const values = trials.map(value).filter((each) => each !== null);
    return values.length === 0 ? null : median(values);
  };
}
