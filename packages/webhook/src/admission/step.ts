import type { JsonPatchOperation, PodOwner } from '@spotalis/core';
import type { ReadablePod } from '../review/pod.ts';
import type { ManagedWorkload } from '../workload/workloads.ts';
import type { Deadline } from './deadline.ts';

/** What a step knows beside the pod itself. */
export interface StepContext {
  /** The `request.uid` of this call. */
  readonly requestUid: string;
  readonly namespace: string;
  /** The controller that creates the pod. */
  readonly owner: PodOwner;
  readonly managed: ManagedWorkload;
  /** Decide and take nothing: asked for by the request, or in read-only mode. */
  readonly dryRun: boolean;
}

/** What one step decides for one pod. */
export interface StepResult<R> {
  readonly operations: readonly JsonPatchOperation[];
  /** Shown by kubectl to whoever made the request. */
  readonly warnings: readonly string[];
  /** What was decided and why, as data: the log and the metrics render it. */
  readonly record: R;
  /** Gives back what the step took. Called when the answer does not get through, or when the step is left out. */
  readonly undo: () => Promise<void>;
}

/** One link of the chain. Steps do not see what others decide, so their order matters only in the patch. */
export interface Step<R> {
  readonly name: string;
  /** JSON pointers of the fields that it may write, with all below them. No other step writes there. */
  readonly writes: readonly string[];
  /** Answers when the deadline passes, at the latest. A step that rejects has taken nothing. */
  decide(pod: ReadablePod, context: StepContext, deadline: Deadline): Promise<StepResult<R>>;
}
