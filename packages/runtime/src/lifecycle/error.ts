export type LifecycleErrorCode =
  /** A component's start threw; what had started was stopped again. */
  | 'COMPONENT_START_FAILED'
  /** A component's start did not return in time. */
  | 'COMPONENT_START_DEADLINE'
  /** A component's stop threw. */
  | 'COMPONENT_STOP_FAILED'
  /** A component's stop did not return in time; the stop went on without it. */
  | 'COMPONENT_STOP_DEADLINE'
  /** The service was told to stop while it was starting. */
  | 'START_INTERRUPTED';

/** Retrying within the process never helps: the process has to be started anew. */
export class LifecycleError extends Error {
  readonly code: LifecycleErrorCode;
  readonly component: string;

  constructor(code: LifecycleErrorCode, component: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LifecycleError';
    this.code = code;
    this.component = component;
  }
}
