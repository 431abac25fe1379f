export {
  type Declaration,
  isReady,
  manifest,
  optedInNamespace,
  type Pod,
  type Split,
  splitOf,
  typeOf,
  Workload,
} from './workload.ts';
