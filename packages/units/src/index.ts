export { formatDuration, type Milliseconds, parseDuration } from './duration.ts';
export {
  admissionSeconds,
  type CounterMetric,
  type CounterSpec,
  type GaugeMetric,
  type GaugeSpec,
  type HistogramMetric,
  type HistogramSpec,
  type Labels,
  type MetricRegistry,
  type MetricSpec,
} from './metric.ts';
export { nearest } from './nearest.ts';
export { parseQuantity } from './quantity.ts';
export {
  combine,
  type ConfigurationProblem,
  declare,
  type Declared,
  isSetting,
  type Setting,
  type SettingGroup,
  type SettingRule,
  type StructureReading,
  type ValuesOf,
} from './setting.ts';
export { plain, type Style, styleFor } from './style.ts';
export { inColumns, table } from './table.ts';
export { inLines, widthOf } from './lines.ts';
