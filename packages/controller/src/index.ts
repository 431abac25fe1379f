export { controllerMetricSpecs } from './lead/metrics.ts';
export { placeholderMetricSpecs } from './placeholder/metrics.ts';
export { droughtMetricSpecs } from './report/droughts.ts';
export { moveMetricSpecs } from './report/metrics.ts';
export { conditionMetricSpecs } from './report/views.ts';
