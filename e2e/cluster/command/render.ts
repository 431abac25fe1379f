import { inColumns } from '@spotalis/units';
import type { ClusterSummary } from './state.ts';
import type { ClusterStatus } from './status.ts';

export function renderSummary(summary: ClusterSummary): string {
  const rows = [
    ['kubeconfig', summary.kubeconfig],
    ['API server', summary.server],
    ...(summary.redis === null ? [] : [['redis', summary.redis]]),
    ['logs', summary.logs],
    ...(summary.auditLog === null ? [] : [['audit log', summary.auditLog]]),
    ['processes', listing(summary.pids)],
    ['ports', listing(summary.ports)],
  ];
  return `ready after ${summary.secondsToReady} s; end it with: npm run cluster -- down --state ${summary.state}\n${table(rows)}`;
}

export function renderStatus({ ready, processes, readyNodes, nodes, cluster }: ClusterStatus): string {
  const rows = [
    ...Object.entries(processes).map(([name, pid]) => [name, pid === null ? 'does not run' : `pid ${pid}`]),
    ['nodes', nodes === null ? 'the API server does not say' : `${readyNodes} of ${nodes} ready`],
    ...(cluster ? [['kubeconfig', cluster.kubeconfig]] : []),
  ];
  return `${ready ? 'ready' : 'not ready'}\n${table(rows)}`;
}

const listing = (values: Readonly<Record<string, number>>) =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

const table = (rows: readonly (readonly string[])[]): string =>
  inColumns(rows)
    .map((line) => `  ${line}\n`)
    .join('');
