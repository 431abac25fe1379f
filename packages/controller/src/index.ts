export { controllerMetricSpecs } from './lead/metrics.ts';
export { moveMetricSpecs } from './report/metrics.ts';
