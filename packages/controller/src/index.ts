import { disruptionMetricSpecs } from './kernel/disruption/metrics.ts';
import { leaderMetricSpecs } from './kernel/leader/metrics.ts';
import { placeholderMetricSpecs } from './kernel/proof/metrics.ts';
import { kernelEvents } from './kernel/report/events.ts';
import { moduleMetricSpecs } from './kernel/report/modules.ts';
import { modules } from './modules/catalogue.ts';

/** What the controller declares: that of the kernel, and that of each module. */
export const controllerMetricSpecs = [
  ...leaderMetricSpecs,
  ...moduleMetricSpecs,
  ...disruptionMetricSpecs,
  ...placeholderMetricSpecs,
  ...modules.flatMap(({ metrics }) => metrics),
];

export const controllerEvents = Object.fromEntries([
  ...modules.flatMap(({ events }) => Object.entries(events)),
  ...Object.entries(kernelEvents),
]);

export const controllerReasons = modules.map(({ reasons }) => reasons);

export { reasonsReference } from './kernel/report/reference.ts';
