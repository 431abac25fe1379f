export { controllerMetricSpecs } from './lead/metrics.ts';
