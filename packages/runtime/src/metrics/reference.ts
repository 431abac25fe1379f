import type { MetricSpec } from '@spotalis/units';
import { catalogue } from './catalogue.ts';

/** The metrics of one service, or of a part of services, as its package declares them. */
export interface DeclaredMetrics {
  readonly owner: string;
  readonly specs: readonly MetricSpec[];
}

/** docs/metrics.md: what each declares, then what any service has. */
export function metricsReference(declared: readonly DeclaredMetrics[]): string {
  const own = declared
    .filter(({ specs }) => specs.length > 0)
    .map(({ owner, specs }) => section(`Of the ${owner}`, specs));
  const shared = section('Of any service', catalogue);
  return `${[introduction, ...own, shared, process].join('\n\n')}\n`;
}

const introduction = `# Metrics

<!-- Written by scripts/generate-docs.mjs from the metrics the code declares. Change them there. -->

Served at \`/metrics\` on \`metrics.port\` (8080) in the text format of Prometheus. Series whose labels are known
beforehand are there at 0 from the start. Nothing is counted per pod.

Names without \`spotalis_\` are those of controller-runtime and client-go, so that dashboards and alerts made for
these work here too. A service has only the ones whose part it contains.`;

const process = `## Of the process

\`process_*\` and \`nodejs_*\` as prom-client provides them: CPU, memory, file descriptors, event loop lag, garbage
collection.`;

function section(title: string, specs: readonly MetricSpec[]): string {
  const rows = specs.map((spec) => {
    const labels = spec.labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${spec.name}\` | ${spec.type} | ${labels} | ${meaning(spec)} |`;
  });
  return [
    `## ${title}`,
    ['| Name | Type | Labels | Meaning |', '|---|---|---|---|', ...rows].join('\n'),
  ].join('\n\n');
}

function meaning(spec: MetricSpec): string {
  const escaped = spec.help.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  if (spec.type !== 'histogram') return escaped;
  return `${escaped} Buckets from ${spec.buckets[0]} to ${spec.buckets.at(-1)}.`;
}
