export { controllerMetricSpecs } from './lead/metrics.ts';
export { placeholderMetricSpecs } from './placeholder/metrics.ts';
export { droughtMetricSpecs } from './report/droughts.ts';
export { controllerEvents } from './report/events.ts';
export { moveMetricSpecs } from './report/metrics.ts';
export { reasonsReference } from './report/reference.ts';
export { conditionMetricSpecs } from './report/views.ts';
