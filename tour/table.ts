import { type Style, table } from '@spotalis/units';

export interface Row {
  readonly workload: string;
  readonly asked: string;
  readonly replicas: number;
  readonly spot: Tally;
  readonly onDemand: Tally;
  readonly unsteered: number;
  readonly ready: number;
  /** Each pod has the deletion cost of its place: before that a scale-down may take the wrong ones. */
  readonly isInOrder: boolean;
  /** Why Spotalis leaves it alone, if it does. */
  readonly untouched: string | undefined;
}

interface Tally {
  readonly actual: number;
  readonly target: number;
}

function onTarget({ spot, onDemand, unsteered }: Row): boolean {
  return unsteered === 0 && spot.actual === spot.target && onDemand.actual === onDemand.target;
}

/** Pods of the wrong type, missing or too many, and pods of no type. */
export function offTarget({ spot, onDemand, unsteered }: Row): number {
  const off = Math.max(Math.abs(spot.actual - spot.target), Math.abs(onDemand.actual - onDemand.target));
  return Math.max(off, unsteered);
}

/** Nothing is left to repair or to renumber. */
export function isSettled(row: Row): boolean {
  return onTarget(row) && row.ready === row.replicas && row.isInOrder;
}

function state(row: Row, style: Style): string {
  if (row.untouched !== undefined) return style.faint(`left alone: ${row.untouched}`);
  if (onTarget(row)) {
    return style.good(row.ready === row.replicas ? 'on target' : `on target, ${row.ready} Ready`);
  }
  const created = row.spot.actual + row.onDemand.actual + row.unsteered;
  if (created > row.replicas) return style.bad(`${created - row.replicas} too many`);
  if (created < row.replicas) return style.bad(`${created} of ${row.replicas} created`);
  return style.bad(`off by ${Math.abs(row.spot.actual - row.spot.target)}`);
}

export function renderTable(rows: readonly Row[], style: Style): string {
  const tally = ({ untouched }: Row, { actual, target }: Tally): string =>
    untouched === undefined ? `${actual}/${target}` : String(actual);
  const header = ['WORKLOAD', 'ASKED', 'REPLICAS', 'SPOT', 'ON-DEMAND', 'STATE'];
  const cells = rows.map((row) => [
    row.workload,
    row.asked,
    String(row.replicas),
    tally(row, row.spot),
    tally(row, row.onDemand),
    state(row, style),
  ]);
  return table(header, cells, { width: undefined, faint: style.faint });
}
