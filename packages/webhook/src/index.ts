export { webhookMetricSpecs } from './report/metrics.ts';
export { admissionPath } from './serve/admissions.ts';
