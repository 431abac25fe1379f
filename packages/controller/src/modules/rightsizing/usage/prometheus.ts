import { formatDuration, type Milliseconds } from '@spotalis/units';
import type {
  ContainerName,
  ContainerUsage,
  Past,
  PodOwner,
  PointProvider,
  Span,
  UsagePoint,
} from './provider.ts';
import { readNames, readPoint, readQueryAnswer, type RawSeries, type Unusable } from './prometheus-answer.ts';
import { DropCount, excerpt, noDrops, type UsageProblem, type UsageReading } from './reading.ts';
import { type SourceOptions, UsageSource } from './source.ts';
import { containerKey, containerNameOf, type MeasuredResource } from './value.ts';

export interface PrometheusOptions extends Omit<SourceOptions, 'name' | 'connections'> {
  /** Labels that every series has to have: `cluster` where one Prometheus has several. */
  readonly matchers?: Readonly<Record<string, string>>;
}

/** Two scrapes at the usual 15 s, or one of a slow 30 s: until then the last scrape of a point is there. */
const SETTLE_MS = 30_000;
const DEFAULT_DEADLINE_MS = 30_000;
/** An answer of a range query has about this many series: at 288 points 9 MB. */
const SERIES_PER_QUERY = 1_000;
/** Until the first answer says how many containers a pod of the namespace has. */
const FIRST_PODS_PER_QUERY = 250;

const metrics: Readonly<Record<MeasuredResource, string>> = {
  cpu: 'container_cpu_usage_seconds_total',
  memory: 'container_memory_working_set_bytes',
};

type Failure = Extract<UsageReading<never>, { kind: 'failed' }>;

/** Usage as Prometheus, or what speaks its API, has scraped it from kubelets. */
export class PrometheusUsage implements PointProvider {
  readonly gives = 'points';
  readonly name = 'prometheus';
  readonly settleMs = SETTLE_MS;
  readonly #source: UsageSource;
  readonly #matchers: readonly string[];
  readonly #timeout: string;

  constructor({ matchers = {}, ...options }: PrometheusOptions) {
    this.#source = new UsageSource({ ...options, name: this.name });
    this.#matchers = Object.entries(matchers).map(([label, value]) => `${label}=${quoted(value)}`);
    this.#timeout = formatDuration(options.deadlineMs ?? DEFAULT_DEADLINE_MS);
  }

  /** Prometheus samples by itself. */
  async sample(): Promise<UsageReading<null>> {
    return Promise.resolve({ kind: 'read', value: null, dropped: noDrops });
  }

  /** A few pods at a time, one query after the other: the source is everybody's. */
  async past(namespace: string, span: Span): Promise<UsageReading<Past>> {
    const { resolutionMs } = span;
    // Points of all queries then end at the same times.
    const startMs = (Math.floor(span.fromMs / resolutionMs) + 1) * resolutionMs;
    const endMs = Math.floor(span.toMs / resolutionMs) * resolutionMs;
    if (endMs < startMs) return { kind: 'read', value: { usage: [], owners: [] }, dropped: noDrops };
    const pods = await this.#podsOf(namespace, startMs - resolutionMs, endMs);
    if (pods.kind === 'failed') return pods;
    const gathered = new Gathered({ startMs, endMs, resolutionMs });
    let perQuery = FIRST_PODS_PER_QUERY;
    for (let at = 0; at < pods.value.length; ) {
      const chunk = pods.value.slice(at, at + perQuery);
      const before = gathered.size;
      const failure = await this.#pastOf(namespace, chunk, gathered);
      if (failure?.problem.reason === 'TooLarge' && perQuery > 1) {
        perQuery = Math.ceil(perQuery / 2);
        continue;
      }
      if (failure) return failure;
      at += chunk.length;
      const perPod = Math.max(1, (gathered.size - before) / chunk.length);
      perQuery = Math.min(perQuery, Math.max(1, Math.floor(SERIES_PER_QUERY / perPod)));
    }
    const owners = await this.#ownersOf(namespace, startMs - resolutionMs, endMs);
    if (owners.kind === 'failed') return owners;
    return {
      kind: 'read',
      value: { usage: gathered.usage, owners: owners.value },
      dropped: gathered.drops.counts,
    };
  }

  async latest(endMs: number, resolutionMs: Milliseconds): Promise<UsageReading<readonly ContainerUsage[]>> {
    const gathered = new Gathered({ startMs: endMs, endMs, resolutionMs });
    for (const resource of ['cpu', 'memory'] as const) {
      const query = this.#usageQuery(resource, resolutionMs, []);
      const failure = await this.#query('query', query, { time: seconds(endMs) }, (series) =>
        gathered.add(resource, series),
      );
      if (failure) return failure;
    }
    return { kind: 'read', value: gathered.usage, dropped: gathered.drops.counts };
  }

  close(): Promise<void> {
    return this.#source.close();
  }

  async #pastOf(
    namespace: string,
    pods: readonly string[],
    gathered: Gathered,
  ): Promise<Failure | undefined> {
    const { startMs, endMs, resolutionMs } = gathered.grid;
    // In brackets a dot is a dot, without an escape of PromQL inside one of the regular expression.
    const anyOf = pods.map((pod) => pod.replaceAll('.', '[.]')).join('|');
    const matchers = [`namespace=${quoted(namespace)}`, `pod=~${quoted(anyOf)}`];
    const range = { start: seconds(startMs), end: seconds(endMs), step: seconds(resolutionMs) };
    const read: [MeasuredResource, readonly RawSeries[]][] = [];
    for (const resource of ['cpu', 'memory'] as const) {
      const query = this.#usageQuery(resource, resolutionMs, matchers);
      const failure = await this.#query('query_range', query, range, (series) =>
        read.push([resource, series]),
      );
      if (failure) return failure;
    }
    // Both or none: a chunk that fails may be asked for again.
    for (const [resource, series] of read) gathered.add(resource, series);
    return undefined;
  }

  /** `max`, not `sum`: duplicate scrapes and restarted containers must not add up. */
  #usageQuery(resource: MeasuredResource, resolutionMs: number, matchers: readonly string[]): string {
    const series = this.#selector(metrics[resource], ['container!=""', 'container!="POD"', ...matchers]);
    const over = resource === 'cpu' ? 'rate' : 'max_over_time';
    return `max by (namespace, pod, container) (${over}(${series}[${formatDuration(resolutionMs)}]))`;
  }

  #selector(metric: string, matchers: readonly string[]): string {
    return `${metric}{${[...matchers, ...this.#matchers].join(',')}}`;
  }

  /** From the index alone, without a look at any value. */
  async #podsOf(namespace: string, fromMs: number, toMs: number): Promise<UsageReading<readonly string[]>> {
    const matchers = ['container!=""', 'container!="POD"', `namespace=${quoted(namespace)}`];
    const match = this.#selector(metrics.cpu, matchers);
    const answer = await this.#source.json({
      path: '/api/v1/label/pod/values',
      query: { 'match[]': match, start: seconds(fromMs), end: seconds(toMs) },
      asked: `pods of ${match}`,
    });
    if (answer.kind === 'failed') return { kind: 'failed', problem: answer.problem };
    const read = readNames(answer.json);
    if (read.kind !== 'names') return this.#unusable(read, answer.excerpt, match);
    return { kind: 'read', value: read.names.filter(isPlain), dropped: noDrops };
  }

  /** From kube-state-metrics; empty where nobody scrapes it. */
  async #ownersOf(
    namespace: string,
    fromMs: number,
    toMs: number,
  ): Promise<UsageReading<readonly PodOwner[]>> {
    const matchers = [`namespace=${quoted(namespace)}`, 'owner_is_controller="true"'];
    const series = this.#selector('kube_pod_owner', matchers);
    const query = `max by (pod, owner_kind, owner_name) (max_over_time(${series}[${formatDuration(toMs - fromMs)}]))`;
    const owners: PodOwner[] = [];
    const failure = await this.#query('query', query, { time: seconds(toMs) }, (found) => {
      for (const { labels } of found) {
        const { pod, owner_kind: kind, owner_name: name } = labels;
        if (typeof pod === 'string' && typeof kind === 'string' && typeof name === 'string')
          owners.push({ pod, kind, name });
      }
    });
    return failure ?? { kind: 'read', value: owners, dropped: noDrops };
  }

  /** Undefined when `take` has the series. */
  async #query(
    endpoint: 'query' | 'query_range',
    query: string,
    times: Readonly<Record<string, string>>,
    take: (series: readonly RawSeries[]) => void,
  ): Promise<Failure | undefined> {
    const form = { query, timeout: this.#timeout, ...times };
    const answer = await this.#source.json({ path: `/api/v1/${endpoint}`, form, asked: query });
    if (answer.kind === 'failed') return { kind: 'failed', problem: answer.problem };
    const read = readQueryAnswer(answer.json);
    if (read.kind !== 'series') return this.#unusable(read, answer.excerpt, query);
    take(read.series);
    return undefined;
  }

  #unusable(read: Unusable, answer: string, asked: string): Failure {
    const what: UsageProblem =
      read.kind === 'partial'
        ? { reason: 'Partial', message: `warns: ${read.warning}` }
        : { reason: 'Malformed', message: `answers what is no result of a query: ${answer}` };
    const message = `${this.#source.title} ${what.message} (asked: ${excerpt(asked)})`;
    return { kind: 'failed', problem: { reason: what.reason, message } };
  }
}

interface Grid {
  readonly startMs: number;
  readonly endMs: number;
  readonly resolutionMs: number;
}

/** Points of many answers, by container. */
class Gathered {
  readonly drops = new DropCount();
  readonly grid: Grid;
  readonly #containers = new Map<
    string,
    ContainerName & { cpu: readonly UsagePoint[]; memory: readonly UsagePoint[] }
  >();

  constructor(grid: Grid) {
    this.grid = grid;
  }

  get size(): number {
    return this.#containers.size;
  }

  get usage(): readonly ContainerUsage[] {
    return [...this.#containers.values()];
  }

  add(resource: MeasuredResource, series: readonly RawSeries[]): void {
    for (const { labels, values } of series) {
      const name = containerNameOf(labels['namespace'], labels['pod'], labels['container'], this.drops);
      if (name === null) continue;
      const points = this.#pointsOf(resource, values);
      if (points.length === 0) continue;
      const key = containerKey(name);
      const known = this.#containers.get(key) ?? { ...name, cpu: [], memory: [] };
      known[resource] = this.#joined(known[resource], points);
      this.#containers.set(key, known);
    }
  }

  #pointsOf(resource: MeasuredResource, values: readonly unknown[]): readonly UsagePoint[] {
    const { startMs, endMs, resolutionMs } = this.grid;
    const points: UsagePoint[] = [];
    for (const value of values) {
      const point = readPoint(resource, value, this.drops);
      if (point === null) continue;
      const isOnGrid = (point.endMs - startMs) % resolutionMs === 0;
      if (isOnGrid && point.endMs >= startMs && point.endMs <= endMs) points.push(point);
      else this.drops.add('OutsideSpan');
    }
    return points;
  }

  /** The larger value stands where both have one. */
  #joined(known: readonly UsagePoint[], more: readonly UsagePoint[]): readonly UsagePoint[] {
    const isOrdered = more.every(({ endMs }, index) => index === 0 || endMs > (more[index - 1]?.endMs ?? 0));
    if (known.length === 0 && isOrdered) return more;
    const values = new Map<number, number>();
    for (const { endMs, value } of [...known, ...more]) {
      const other = values.get(endMs);
      if (other !== undefined) this.drops.add('Duplicate');
      values.set(endMs, Math.max(other ?? 0, value));
    }
    return [...values].map(([endMs, value]) => ({ endMs, value })).toSorted((a, b) => a.endMs - b.endMs);
  }
}

/** As a string of PromQL, whose escapes are those of Go. */
const quoted = (text: string): string => JSON.stringify(text);

const seconds = (ms: number): string => String(ms / 1000);

const plainName = /^[-a-z0-9.]+$/;
const isPlain = (name: string): boolean => plainName.test(name);
