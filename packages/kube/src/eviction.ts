import { ApiError, asError, FenceClosedError, KubeError } from './errors.ts';
import type { KubeObject } from './object.ts';
import { resource } from './resource.ts';
import type { ApiClient } from './transport/client.ts';
import type { HotCallOptions } from './transport/transport.ts';

const pods = resource<KubeObject>('v1', 'pods', 'Pod');

/** What to evict, and as what it must still be. */
export interface Eviction {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Given, any change of the pod in the meantime makes the eviction fail: a binding, for instance. */
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
  /** Spends nothing of a PDB's budget. */
  readonly dryRun?: boolean;
}

export type EvictionOutcome =
  | { readonly kind: 'evicted' }
  /** By a PDB, or by an overloaded server: not an error, ask again later. */
  | { readonly kind: 'blocked'; readonly retryAfterMs?: number; readonly message: string }
  /** The pod that was meant does not exist any more: success. */
  | { readonly kind: 'gone' }
  /** The pod is still the same but has changed. Read it again; where a PDB applies no sooner than in 120 s. */
  | { readonly kind: 'conflict'; readonly message: string }
  /** More than one PDB selects the pod, which the API refuses whatever their budgets are. */
  | { readonly kind: 'tooManyBudgets'; readonly message: string }
  | { readonly kind: 'forbidden'; readonly message: string }
  /** Not sent, because the fence was closed. */
  | { readonly kind: 'fenced' }
  /** The pod may or may not be evicted; the preconditions make asking again harmless. */
  | { readonly kind: 'error'; readonly error: Error; readonly retryable: boolean };

/** One policy/v1 Eviction, sent once. Never throws. */
export async function evict(
  client: ApiClient,
  eviction: Eviction,
  options: HotCallOptions,
): Promise<EvictionOutcome> {
  const { namespace, name, uid } = eviction;
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { namespace, name },
    deleteOptions: {
      preconditions: { uid, resourceVersion: eviction.resourceVersion },
      gracePeriodSeconds: eviction.gracePeriodSeconds,
      ...(eviction.dryRun ? { dryRun: ['All'] } : {}),
    },
  };
  try {
    await client.create(
      pods,
      { namespace, name, subresource: 'eviction' },
      body,
      {},
      { ...options, once: true },
    );
    return { kind: 'evicted' };
  } catch (thrown) {
    const error = asError(thrown);
    if (error instanceof FenceClosedError) {
      return { kind: 'fenced' };
    }
    if (error instanceof ApiError) {
      return error.status === 409
        ? await explainConflict(client, eviction, error, options)
        : outcomeOf(error);
    }
    return { kind: 'error', error, retryable: error instanceof KubeError && error.retryable };
  }
}

function outcomeOf(error: ApiError): EvictionOutcome {
  const message = error.statusMessage;
  switch (error.status) {
    case 404:
      return { kind: 'gone' };
    case 403:
      return { kind: 'forbidden', message };
    case 429:
      return {
        kind: 'blocked',
        message,
        ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
      };
    case 500:
      // The server gives no reason word for it, only this text.
      return message.includes('more than one PodDisruptionBudget')
        ? { kind: 'tooManyBudgets', message }
        : { kind: 'error', error, retryable: true };
    default:
      return { kind: 'error', error, retryable: error.retryable };
  }
}

/** A 409 does not say in a dependable way which precondition failed; the pod itself does. */
async function explainConflict(
  client: ApiClient,
  eviction: Eviction,
  error: ApiError,
  options: HotCallOptions,
): Promise<EvictionOutcome> {
  const { namespace, name } = eviction;
  try {
    const { fence: _write, ...read } = options;
    const pod = await client.get(pods, { namespace, name }, { ...read, once: true, view: 'metadata' });
    return pod.metadata.uid === eviction.uid
      ? { kind: 'conflict', message: error.statusMessage }
      : { kind: 'gone' };
  } catch (thrown) {
    const second = asError(thrown);
    return second instanceof ApiError && second.status === 404
      ? { kind: 'gone' }
      : { kind: 'conflict', message: error.statusMessage };
  }
}
