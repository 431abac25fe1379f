import { specs } from './catalogue.ts';
import type { Metrics } from './registry.ts';

/** One attempt of a request to the API server that has come to an end. */
export interface RestCall {
  readonly verb: string;
  readonly host: string;
  /** HTTP status, or `<error>` when no answer came. */
  readonly code: string;
  readonly durationMs: number;
}

/** Registers rest_client_*. */
export function restClientMetrics(metrics: Metrics) {
  const requests = metrics.counter(specs.restRequests);
  const seconds = metrics.histogram(specs.restSeconds);
  return {
    finished: ({ verb, host, code, durationMs }: RestCall): void => {
      requests.add({ code, method: verb, host });
      seconds.observe({ verb, host }, durationMs / 1_000);
    },
  };
}

const watchEnds = ['closed', 'silent', 'expired', 'error'] as const;

/** Registers reflector_*. Each reflector gets an observer under the name of its resource. */
export function reflectorMetrics(metrics: Metrics, now: () => number = Date.now) {
  const lists = metrics.counter(specs.reflectorLists);
  const listSeconds = metrics.histogram(specs.reflectorListSeconds);
  const items = metrics.gauge(specs.reflectorItems);
  const watches = metrics.counter(specs.reflectorWatches);
  const ends = metrics.counter(specs.reflectorWatchEnds);
  const failures = metrics.counter(specs.reflectorFailures);
  const rejections = metrics.counter(specs.reflectorRejected);
  const lastEvent = metrics.gauge(specs.reflectorLastEvent);
  return {
    observer(name: string) {
      const labels = { name };
      for (const metric of [lists, listSeconds, watches, failures, rejections]) metric.touch(labels);
      for (const reason of watchEnds) ends.touch({ name, reason });
      return {
        listed(list: { readonly objects: number; readonly durationMs: number }): void {
          lists.add(labels);
          items.set(labels, list.objects);
          listSeconds.observe(labels, list.durationMs / 1_000);
        },
        watchStarted: () => watches.add(labels),
        watchEnded: (reason: (typeof watchEnds)[number]) => ends.add({ name, reason }),
        event: () => lastEvent.set(labels, now() / 1_000),
        failed: () => failures.add(labels),
        rejected: () => rejections.add(labels),
      };
    },
  };
}

/** Registers leader_election_master_status, at 0 for the given Lease. */
export function leaderMetrics(metrics: Metrics, name: string) {
  const leader = metrics.gauge(specs.leader);
  leader.set({ name }, 0);
  return { leading: (isLeader: boolean) => leader.set({ name }, isLeader ? 1 : 0) };
}
