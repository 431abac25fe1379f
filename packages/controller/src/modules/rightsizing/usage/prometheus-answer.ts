import type { UsagePoint } from './provider.ts';
import { type DropCount, excerpt } from './reading.ts';
import { amountOf, fieldsOf, type MeasuredResource } from './value.ts';

/** Labels and values of one series, not yet looked at. */
export interface RawSeries {
  readonly labels: Readonly<Record<string, unknown>>;
  readonly values: readonly unknown[];
}

export type Unusable =
  /** Prometheus, or a store behind it, says that something is amiss. Notes that it calls `infos` do not count. */
  { readonly kind: 'partial'; readonly warning: string } | { readonly kind: 'malformed' };

/** What Prometheus answers to a query. */
export type QueryAnswer = { readonly kind: 'series'; readonly series: readonly RawSeries[] } | Unusable;

/** Any JSON in, no throw. Both kinds of answers: a vector has one value for each series, a matrix has many. */
export function readQueryAnswer(json: unknown): QueryAnswer {
  const read = readData(json);
  if (read.kind !== 'data') return read;
  const data = fieldsOf(read.data);
  const result = data?.['result'];
  const type = data?.['resultType'];
  if ((type !== 'vector' && type !== 'matrix') || !Array.isArray(result)) return { kind: 'malformed' };
  const series: RawSeries[] = [];
  for (const one of result) {
    const fields = fieldsOf(one);
    const labels = fieldsOf(fields?.['metric']);
    const values = type === 'vector' ? [fields?.['value']] : fields?.['values'];
    if (labels === null || !Array.isArray(values)) return { kind: 'malformed' };
    series.push({ labels, values });
  }
  return { kind: 'series', series };
}

/** What Prometheus answers when it is asked for the values of a label. */
export type NamesAnswer = { readonly kind: 'names'; readonly names: readonly string[] } | Unusable;

/** Any JSON in, no throw. */
export function readNames(json: unknown): NamesAnswer {
  const read = readData(json);
  if (read.kind !== 'data') return read;
  const { data } = read;
  if (!Array.isArray(data) || !data.every((one) => typeof one === 'string')) return { kind: 'malformed' };
  return { kind: 'names', names: data };
}

type Data = { readonly kind: 'data'; readonly data: unknown };

function readData(json: unknown): Data | Unusable {
  const answer = fieldsOf(json);
  if (answer?.['status'] !== 'success') return { kind: 'malformed' };
  const { warnings } = answer;
  if (Array.isArray(warnings) && warnings.length > 0) {
    const texts = warnings.filter((one) => typeof one === 'string');
    return { kind: 'partial', warning: excerpt(texts.join('; ')) };
  }
  return { kind: 'data', data: answer['data'] };
}

/** `[1700000000.123, "0.25"]`; CPU comes in cores. What is no point is left out, and counted. */
export function readPoint(resource: MeasuredResource, value: unknown, drops: DropCount): UsagePoint | null {
  const [seconds, text] = Array.isArray(value) ? value : [];
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || typeof text !== 'string' || text === '') {
    drops.add('NotANumber');
    return null;
  }
  const amount = amountOf(resource, Number(text) * (resource === 'cpu' ? 1000 : 1), drops);
  return amount === null ? null : { endMs: Math.round(seconds * 1000), value: amount };
}
