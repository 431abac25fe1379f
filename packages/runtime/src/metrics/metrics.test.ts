import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { createAuthority } from '../certificates/issue.ts';
import { catalogue, specs } from './catalogue.ts';
import { leaderMetrics, reflectorMetrics, restClientMetrics } from './clients.ts';
import { reconcileMetrics, workqueueMetrics } from './queues.ts';
import { Metrics } from './registry.ts';
import { certificateMetrics, configurationMetrics, webhookMetrics } from './service.ts';

/** The lines of one metric, without its help and type. */
const series = async (metrics: Metrics, name: string): Promise<readonly string[]> =>
  (await text(metrics.page())).split('\n').filter((line) => line.startsWith(name));

describe('a registry', () => {
  it('refuses the same name twice', () => {
    const metrics = new Metrics();
    metrics.counter(specs.queueAdds);
    expect(() => metrics.counter(specs.queueAdds)).toThrow('workqueue_adds_total is registered already');
  });

  it('adds the metrics of the process when asked', async () => {
    expect(await series(new Metrics().collectProcess(), 'process_cpu_seconds_total')).toHaveLength(1);
  });
});

describe('a view', () => {
  it('is read at each scrape, with whatever its labels hold', async () => {
    const metrics = new Metrics();
    const depths = new Map([['a', 1]]);
    metrics.view(specs.queueDepth, function* () {
      for (const [name, value] of depths) yield { labels: { name }, value };
    });
    expect(await series(metrics, 'workqueue_depth')).toEqual(['workqueue_depth{name="a"} 1']);
    depths.clear();
    depths.set('"b"', 2);
    expect(await series(metrics, 'workqueue_depth')).toEqual(['workqueue_depth{name="\\"b\\""} 2']);
    depths.set('c\n\\', 3);
    expect(await text(metrics.page())).toContain('\nworkqueue_depth{name="c\\n\\\\"} 3\n');
    expect(() => metrics.gauge(specs.queueDepth)).toThrow('workqueue_depth is registered already');
  });

  it('is on the page as any other gauge, however many series it has', async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `queue-${index}`);
    const kept = new Metrics();
    const gauge = kept.gauge(specs.queueDepth);
    for (const name of names) gauge.set({ name }, 1);
    const read = new Metrics();
    read.view(specs.queueDepth, () => names.map((name) => ({ labels: { name }, value: 1 })));
    expect((await text(read.page())).trim()).toEqual((await text(kept.page())).trim());
  });
});

describe('work queues', () => {
  it('are there at 0 before anything happened', async () => {
    const metrics = new Metrics();
    workqueueMetrics(metrics).observer('workloads');
    for (const name of [
      'depth',
      'adds_total',
      'retries_total',
      'unfinished_work_seconds',
      'longest_running_processor_seconds',
    ]) {
      expect(await series(metrics, `workqueue_${name}`)).toEqual([`workqueue_${name}{name="workloads"} 0`]);
    }
    expect(await series(metrics, 'workqueue_queue_duration_seconds_count')).toEqual([
      'workqueue_queue_duration_seconds_count{name="workloads"} 0',
    ]);
  });

  it('count what their observer hears, in seconds', async () => {
    const metrics = new Metrics();
    const queues = workqueueMetrics(metrics);
    const observer = queues.observer('workloads');
    queues.watchUnfinished('workloads', () => ({ total: 3_000, longest: 2_000 }));
    observer.added();
    observer.retried();
    observer.depth(7);
    observer.started(1_500);
    observer.finished(250);
    const page = await text(metrics.page());
    for (const line of [
      'workqueue_adds_total{name="workloads"} 1',
      'workqueue_retries_total{name="workloads"} 1',
      'workqueue_depth{name="workloads"} 7',
      'workqueue_queue_duration_seconds_sum{name="workloads"} 1.5',
      'workqueue_work_duration_seconds_sum{name="workloads"} 0.25',
      'workqueue_unfinished_work_seconds{name="workloads"} 3',
      'workqueue_longest_running_processor_seconds{name="workloads"} 2',
    ]) {
      expect(page).toContain(`${line}\n`);
    }
  });
});

describe('reconciles', () => {
  it('are counted the way controller-runtime counts them', async () => {
    const metrics = new Metrics();
    const observer = reconcileMetrics(metrics).observer('workload', 5);
    for (const outcome of ['success', 'requeue_after', 'error', 'terminal', 'panic'] as const)
      observer.reconciled(outcome, 10);
    observer.active(2);
    expect(await series(metrics, 'controller_runtime_reconcile_total')).toEqual([
      'controller_runtime_reconcile_total{controller="workload",result="success"} 1',
      'controller_runtime_reconcile_total{controller="workload",result="requeue_after"} 1',
      'controller_runtime_reconcile_total{controller="workload",result="error"} 3',
    ]);
    const label = '{controller="workload"}';
    expect(await series(metrics, 'controller_runtime_reconcile_errors_total')).toEqual([
      `controller_runtime_reconcile_errors_total${label} 3`,
    ]);
    expect(await series(metrics, 'controller_runtime_terminal')).toEqual([
      `controller_runtime_terminal_reconcile_errors_total${label} 1`,
    ]);
    expect(await series(metrics, 'controller_runtime_reconcile_panics_total')).toEqual([
      `controller_runtime_reconcile_panics_total${label} 1`,
    ]);
    expect(await series(metrics, 'controller_runtime_active_workers')).toEqual([
      `controller_runtime_active_workers${label} 2`,
    ]);
    expect(await series(metrics, 'controller_runtime_max')).toEqual([
      `controller_runtime_max_concurrent_reconciles${label} 5`,
    ]);
  });
});

describe('the webhook', () => {
  it('is measured from 0.5 ms to 10 s', async () => {
    const metrics = new Metrics();
    const observer = webhookMetrics(metrics).observer('/mutate');
    observer.started();
    expect(await series(metrics, 'controller_runtime_webhook_requests_in_flight')).toEqual([
      'controller_runtime_webhook_requests_in_flight{webhook="/mutate"} 1',
    ]);
    observer.finished(200, 0.4);
    const buckets = await series(metrics, 'controller_runtime_webhook_latency_seconds_bucket');
    expect(buckets[0]).toBe(
      'controller_runtime_webhook_latency_seconds_bucket{le="0.0005",webhook="/mutate"} 1',
    );
    expect(buckets.at(-2)).toContain('le="10"');
    expect(await series(metrics, 'controller_runtime_webhook_requests_total')).toEqual([
      'controller_runtime_webhook_requests_total{webhook="/mutate",code="200"} 1',
      'controller_runtime_webhook_requests_total{webhook="/mutate",code="500"} 0',
    ]);
    expect(await series(metrics, 'controller_runtime_webhook_requests_in_flight')).toEqual([
      'controller_runtime_webhook_requests_in_flight{webhook="/mutate"} 0',
    ]);
  });
});

describe('the clients of the API server', () => {
  it('count requests by code, method and host', async () => {
    const metrics = new Metrics();
    const { finished } = restClientMetrics(metrics);
    finished({ verb: 'GET', host: 'api:443', code: '200', durationMs: 100 });
    finished({ verb: 'GET', host: 'api:443', code: '<error>', durationMs: 100 });
    expect(await series(metrics, 'rest_client_requests_total')).toEqual([
      'rest_client_requests_total{code="200",method="GET",host="api:443"} 1',
      'rest_client_requests_total{code="<error>",method="GET",host="api:443"} 1',
    ]);
    expect(await series(metrics, 'rest_client_request_duration_seconds_sum')).toEqual([
      'rest_client_request_duration_seconds_sum{verb="GET",host="api:443"} 0.2',
    ]);
  });

  it('tell of lists, watches and the last event', async () => {
    const metrics = new Metrics();
    const observer = reflectorMetrics(metrics, () => 5_000).observer('pods');
    observer.listed({ objects: 12, durationMs: 500 });
    observer.watchStarted();
    observer.watchEnded('expired');
    observer.event();
    observer.failed();
    observer.rejected();
    const page = await text(metrics.page());
    for (const line of [
      'reflector_lists_total{name="pods"} 1',
      'reflector_items_in_list{name="pods"} 12',
      'reflector_list_duration_seconds_sum{name="pods"} 0.5',
      'reflector_watches_total{name="pods"} 1',
      'reflector_watch_ends_total{name="pods",reason="expired"} 1',
      'reflector_watch_ends_total{name="pods",reason="silent"} 0',
      'reflector_failures_total{name="pods"} 1',
      'reflector_rejected_objects_total{name="pods"} 1',
      'reflector_last_event_timestamp_seconds{name="pods"} 5',
    ]) {
      expect(page).toContain(`${line}\n`);
    }
  });

  it('tell who leads', async () => {
    const metrics = new Metrics();
    const { leading } = leaderMetrics(metrics, 'spotalis-controller');
    const line = 'leader_election_master_status{name="spotalis-controller"}';
    expect(await series(metrics, 'leader')).toEqual([`${line} 0`]);
    leading(true);
    expect(await series(metrics, 'leader')).toEqual([`${line} 1`]);
    leading(false);
    expect(await series(metrics, 'leader')).toEqual([`${line} 0`]);
  });
});

describe('certificates and configuration', () => {
  it('tell when the certificate in use ends, how long it lasts, and how often one could not be used', async () => {
    const metrics = new Metrics();
    const observer = certificateMetrics(metrics);
    observer.loaded(
      await createAuthority({
        commonName: 'CA',
        notBeforeMs: 1_000_000_000_000,
        notAfterMs: 1_800_000_000_000,
      }),
    );
    observer.rejected();
    const page = await text(metrics.page());
    expect(page).toContain('\ncertwatcher_read_certificate_total 1\n');
    expect(page).toContain('\ncertwatcher_read_certificate_errors_total 1\n');
    expect(page).toContain('\nspotalis_certificate_expiry_timestamp_seconds 1800000000\n');
    expect(page).toContain('\nspotalis_certificate_lifetime_seconds 800000000\n');
  });

  it('tell what became of a changed file', async () => {
    const metrics = new Metrics();
    const observer = configurationMetrics(metrics);
    observer.changed();
    observer.rejected();
    observer.rejected();
    expect(await series(metrics, 'spotalis_configuration_reloads_total')).toEqual([
      'spotalis_configuration_reloads_total{result="applied"} 1',
      'spotalis_configuration_reloads_total{result="rejected"} 2',
      'spotalis_configuration_reloads_total{result="restart"} 0',
    ]);
  });
});

const names = (list: readonly { readonly name: string }[]): readonly string[] =>
  list.map(({ name }) => name).toSorted();

describe('the catalogue', () => {
  it('lists exactly what the code registers', () => {
    const metrics = new Metrics();
    workqueueMetrics(metrics);
    reconcileMetrics(metrics);
    webhookMetrics(metrics);
    restClientMetrics(metrics);
    reflectorMetrics(metrics);
    leaderMetrics(metrics, 'any');
    certificateMetrics(metrics);
    configurationMetrics(metrics);
    expect(names(metrics.specs)).toEqual(names(catalogue));
  });

  it('gives histograms ascending buckets and everything a meaning', () => {
    for (const spec of catalogue) {
      const buckets = spec.type === 'histogram' ? spec.buckets : [];
      expect(spec.help).toMatch(/\.$/);
      expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
    }
  });
});
