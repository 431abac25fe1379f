export { webhookEvents } from './report/events.ts';
export { webhookMetricSpecs } from './report/metrics.ts';
export { admissionPath } from './serve/admissions.ts';
