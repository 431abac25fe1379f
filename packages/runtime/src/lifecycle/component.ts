/** What a component may do while it starts and as long as it runs. */
export interface StartContext {
  /** Aborted when the service is told to stop before this component has started. */
  readonly signal: AbortSignal;
  /** Ends the whole service in order, with exit code 1. For faults found after the start, such as a lost Lease. */
  readonly fail: (error: Error) => void;
}

/**
 * A part of a service with a life of its own. Both halves are optional. Stop is called only after start was, also
 * when that start failed half-way.
 */
export interface Component {
  readonly name: string;
  /** Returns once the component can serve the ones after it. */
  start?(context: StartContext): Promise<void> | void;
  /** Returns once nothing of the component runs any more. */
  stop?(): Promise<void> | void;
  /** Default 60 s: a first list of a large cluster may take long. */
  readonly startDeadlineMs?: number;
  /** Default 10 s. The sum over all parts has to fit the pod's terminationGracePeriodSeconds. */
  readonly stopDeadlineMs?: number;
}
