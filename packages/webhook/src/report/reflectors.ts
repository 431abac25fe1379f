import type { ReflectorObserver } from '@spotalis/kube';
import { type Logger, type Metrics, reflectorMetrics } from '@spotalis/runtime';

export type ReflectorObservers = (resource: string) => ReflectorObserver;

/** Counts lists and watches, and logs those that fail. */
export function reflectorObservers(metrics: Metrics, logger: Logger): ReflectorObservers {
  const measured = reflectorMetrics(metrics);
  return (resource) => {
    const observer = measured.observer(resource);
    return {
      ...observer,
      failed(error, retryInMs) {
        observer.failed();
        logger.warn('cannot list or watch', { resource, error, retryInMs: Math.round(retryInMs) });
      },
      rejected(error) {
        observer.rejected();
        logger.warn('an object could not be understood', { resource, error });
      },
    };
  };
}
