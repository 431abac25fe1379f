export { disruptionMetricSpecs } from './kernel/disruption/metrics.ts';
export { controllerMetricSpecs } from './modules/distribution/report/workloads.ts';
export { placeholderMetricSpecs } from './kernel/proof/metrics.ts';
export { droughtMetricSpecs } from './modules/distribution/drought/narrator.ts';
export { controllerEvents } from './modules/distribution/report/events.ts';
export { moveMetricSpecs } from './modules/distribution/report/metrics.ts';
export { reasonsReference } from './kernel/report/reference.ts';
export { conditionMetricSpecs } from './modules/distribution/report/views.ts';
