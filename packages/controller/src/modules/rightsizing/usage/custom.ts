import { formatDuration, type Milliseconds, parseDuration } from '@spotalis/units';
import type { ContainerName, ContainerStatistics, Percentiles, StatisticsProvider } from './provider.ts';
import { excerpt, noDrops, type UsageProblem, type UsageReading } from './reading.ts';
import { type SourceOptions, UsageSource } from './source.ts';
import { fieldsOf, type MeasuredResource, plausible } from './value.ts';

export type CustomOptions = Omit<SourceOptions, 'name' | 'connections'>;

const AT_A_TIME = 10;
const DEFAULT_DEADLINE_MS = 10_000;
const DEFAULT_MAX_BYTES = 64 * 2 ** 10;
/** So many failures in a row, and the rest is not asked: else 10,000 containers cost a dead provider hours. */
const GIVEN_UP_AFTER = AT_A_TIME;

type Read = UsageReading<ContainerStatistics | null>;

/**
 * Asks an HTTP server of the user's: `GET ?namespace&pod&container&window`. It answers
 * `{cpu: {p50, p90, p99}, memory: {...}, samples, span?, memoryPeak?}`, in millicores and bytes, with durations as Go
 * writes them; or 404 where it does not know the container.
 */
export class CustomUsage implements StatisticsProvider {
  readonly gives = 'statistics';
  readonly name = 'custom';
  readonly #source: UsageSource;

  constructor(options: CustomOptions) {
    const limits = { deadlineMs: DEFAULT_DEADLINE_MS, maxBytes: DEFAULT_MAX_BYTES };
    this.#source = new UsageSource({ ...limits, ...options, name: this.name, connections: AT_A_TIME });
  }

  async read(containers: readonly ContainerName[], windowMs: Milliseconds): Promise<readonly Read[]> {
    const readings: Read[] = [];
    let next = 0;
    let failures = 0;
    let last: UsageProblem | undefined;
    const work = async (): Promise<void> => {
      for (let index = next++; ; index = next++) {
        const container = containers[index];
        if (container === undefined) return;
        if (last !== undefined && failures >= GIVEN_UP_AFTER) {
          readings[index] = { kind: 'failed', problem: last };
          continue;
        }
        const reading = await this.#ask(container, windowMs);
        readings[index] = reading;
        if (reading.kind === 'failed' && isAbsence(reading.problem)) {
          failures++;
          last = reading.problem;
        } else {
          failures = 0;
        }
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    return readings;
  }

  close(): Promise<void> {
    return this.#source.close();
  }

  async #ask(name: ContainerName, windowMs: Milliseconds): Promise<Read> {
    const { namespace, pod, container } = name;
    const asked = `${namespace}/${pod}, container ${container}`;
    const query = { namespace, pod, container, window: formatDuration(windowMs) };
    const answer = await this.#source.json({ path: '', query, asked });
    if (answer.kind === 'failed') {
      if (answer.status === 404) return { kind: 'read', value: null, dropped: noDrops };
      return { kind: 'failed', problem: answer.problem };
    }
    const statistics = readStatistics(answer.json);
    if (typeof statistics === 'string') {
      const message = `${this.#source.title}: ${statistics}: ${answer.excerpt} (asked: ${excerpt(asked)})`;
      return { kind: 'failed', problem: { reason: 'Malformed', message } };
    }
    return { kind: 'read', value: { ...name, ...statistics }, dropped: noDrops };
  }
}

/** The server, not one of its answers, is at fault. */
const isAbsence = ({ reason }: UsageProblem): boolean =>
  reason === 'Unreachable' || reason === 'Late' || reason === 'Credentials';

/** What is wrong, when the answer is not as promised. Any JSON in, no throw. */
export function readStatistics(json: unknown): Omit<ContainerStatistics, keyof ContainerName> | string {
  const fields = fieldsOf(json);
  if (fields === null) return 'the answer is no object';
  const cpu = readPercentiles('cpu', fields['cpu']);
  if (typeof cpu === 'string') return cpu;
  const memory = readPercentiles('memory', fields['memory']);
  if (typeof memory === 'string') return memory;
  const { samples, span = null, memoryPeak = null } = fields;
  if (typeof samples !== 'number' || !Number.isSafeInteger(samples) || samples < 0)
    return 'samples must be a whole number, 0 or more';
  const spanMs = typeof span === 'string' ? parseDuration(span) : null;
  if (span !== null && (spanMs === null || spanMs < 0)) return 'span must be a duration like 24h';
  if (memoryPeak !== null && !isAmount('memory', memoryPeak)) return 'memoryPeak must be bytes';
  return { cpu, memory, samples, spanMs, memoryPeak };
}

function readPercentiles(resource: MeasuredResource, value: unknown): Percentiles | string {
  const unit = resource === 'cpu' ? 'millicores' : 'bytes';
  const { p50, p90, p99 } = fieldsOf(value) ?? {};
  if (!isAmount(resource, p50) || !isAmount(resource, p90) || !isAmount(resource, p99))
    return `${resource} must have p50, p90 and p99 in ${unit}`;
  if (p50 > p90 || p90 > p99) return `${resource} must have p50 <= p90 <= p99`;
  return { p50, p90, p99 };
}

const isAmount = (resource: MeasuredResource, value: unknown): value is number =>
  typeof value === 'number' && typeof plausible(resource, value) === 'number';
