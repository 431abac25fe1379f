import {
  admissionSeconds,
  type CounterSpec,
  type GaugeSpec,
  type HistogramSpec,
  type MetricSpec,
} from '@spotalis/units';

/** Powers of ten from 10 ns to 1,000 s: what client-go uses for its work queues. */
const decades = Array.from({ length: 12 }, (_, power) => Number(`1e${power - 8}`));

const reconcileSeconds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

const requestSeconds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

const counter = <L extends string>(name: string, labels: readonly L[], help: string): CounterSpec<L> => ({
  type: 'counter',
  name,
  labels,
  help,
});

const gauge = <L extends string>(name: string, labels: readonly L[], help: string): GaugeSpec<L> => ({
  type: 'gauge',
  name,
  labels,
  help,
});

const histogram = <L extends string>(
  name: string,
  labels: readonly L[],
  buckets: readonly number[],
  help: string,
): HistogramSpec<L> => ({ type: 'histogram', name, labels, buckets, help });

/** The names of controller-runtime and client-go, so that dashboards and alerts made for those work here. */
export const specs = {
  reconcileTotal: counter(
    'controller_runtime_reconcile_total',
    ['controller', 'result'],
    'Reconciles by result: success, requeue_after or error.',
  ),
  reconcileErrors: counter(
    'controller_runtime_reconcile_errors_total',
    ['controller'],
    'Reconciles that failed.',
  ),
  reconcileTerminalErrors: counter(
    'controller_runtime_terminal_reconcile_errors_total',
    ['controller'],
    'Reconciles that failed in a way no repetition helps.',
  ),
  reconcilePanics: counter(
    'controller_runtime_reconcile_panics_total',
    ['controller'],
    'Reconciles that failed by a programming error.',
  ),
  reconcileSeconds: histogram(
    'controller_runtime_reconcile_time_seconds',
    ['controller'],
    reconcileSeconds,
    'How long a reconcile takes.',
  ),
  reconcileWorkersMax: gauge(
    'controller_runtime_max_concurrent_reconciles',
    ['controller'],
    'How many reconciles may run at once.',
  ),
  reconcileWorkersActive: gauge(
    'controller_runtime_active_workers',
    ['controller'],
    'How many reconciles run now.',
  ),

  queueDepth: gauge('workqueue_depth', ['name'], 'Keys waiting for a worker.'),
  queueAdds: counter('workqueue_adds_total', ['name'], 'Keys added to the queue.'),
  queueWaitSeconds: histogram(
    'workqueue_queue_duration_seconds',
    ['name'],
    decades,
    'How long a key waits for a worker.',
  ),
  queueWorkSeconds: histogram(
    'workqueue_work_duration_seconds',
    ['name'],
    decades,
    'How long a worker has a key.',
  ),
  queueUnfinished: gauge(
    'workqueue_unfinished_work_seconds',
    ['name'],
    'Time that keys have been with their workers so far, summed up. Growing steadily: a worker hangs.',
  ),
  queueLongest: gauge(
    'workqueue_longest_running_processor_seconds',
    ['name'],
    'How long the slowest worker has had its key so far.',
  ),
  queueRetries: counter('workqueue_retries_total', ['name'], 'Keys added again after a failure.'),

  webhookSeconds: histogram(
    'controller_runtime_webhook_latency_seconds',
    ['webhook'],
    admissionSeconds,
    'From the request read to the answer sent.',
  ),
  webhookRequests: counter(
    'controller_runtime_webhook_requests_total',
    ['webhook', 'code'],
    'Requests by HTTP status; 499: the caller went away before the answer.',
  ),
  webhookInFlight: gauge(
    'controller_runtime_webhook_requests_in_flight',
    ['webhook'],
    'Requests being served now.',
  ),

  restRequests: counter(
    'rest_client_requests_total',
    ['code', 'method', 'host'],
    'Requests to the API server by HTTP status, or <error> when there was no answer.',
  ),
  restSeconds: histogram(
    'rest_client_request_duration_seconds',
    ['verb', 'host'],
    requestSeconds,
    'Time to the answer of the API server, of a watch to its head.',
  ),

  reflectorLists: counter('reflector_lists_total', ['name'], 'Full lists of a resource.'),
  reflectorListSeconds: histogram(
    'reflector_list_duration_seconds',
    ['name'],
    requestSeconds,
    'How long a full list takes.',
  ),
  reflectorItems: gauge('reflector_items_in_list', ['name'], 'Objects in the last full list.'),
  reflectorWatches: counter('reflector_watches_total', ['name'], 'Watches opened.'),
  reflectorWatchEnds: counter(
    'reflector_watch_ends_total',
    ['name', 'reason'],
    'Watches that ended: closed, silent, expired or error.',
  ),
  reflectorFailures: counter(
    'reflector_failures_total',
    ['name'],
    'Lists and watches that failed and are tried again.',
  ),
  reflectorRejected: counter(
    'reflector_rejected_objects_total',
    ['name'],
    'Objects that could not be understood.',
  ),
  reflectorLastEvent: gauge(
    'reflector_last_event_timestamp_seconds',
    ['name'],
    'When the last event or bookmark came. More than two minutes ago: the watch is deaf.',
  ),

  leader: gauge('leader_election_master_status', ['name'], '1 on the replica that leads, 0 on the others.'),

  certificateReads: counter('certwatcher_read_certificate_total', [], 'Certificates taken into use.'),
  certificateErrors: counter(
    'certwatcher_read_certificate_errors_total',
    [],
    'Certificates that could not be used; the former one stays in use.',
  ),
  certificateExpiry: gauge(
    'spotalis_certificate_expiry_timestamp_seconds',
    [],
    'When the certificate in use ends.',
  ),
  certificateLifetime: gauge(
    'spotalis_certificate_lifetime_seconds',
    [],
    'How long the certificate in use is good for, from its beginning to its end.',
  ),
  certificateRotations: counter(
    'spotalis_certificate_rotations_total',
    ['result'],
    'Certificates that this replica made and put into use (rotated), and looks that failed and are repeated (failed).',
  ),
  configurationReloads: counter(
    'spotalis_configuration_reloads_total',
    ['result'],
    'Changes of the configuration file: applied, rejected or restart (waiting for one).',
  ),
} as const;

/** Everything of above as a list, for the documentation. */
export const catalogue: readonly MetricSpec[] = Object.values(specs);
