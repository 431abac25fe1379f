import { types } from 'node:util';

/**
 * Everything this package throws, in one place. `code` is stable; `retryable` says whether the same call may
 * succeed later without anybody changing anything.
 */
export abstract class KubeError extends Error {
  abstract readonly code: string;
  abstract readonly retryable: boolean;
}

/** Thrown at start, when credentials for an API server cannot be found, read or understood. Never retried. */
export class ConfigurationError extends KubeError {
  override readonly name = 'ConfigurationError';
  readonly code = 'KUBE_CONFIGURATION';
  readonly retryable = false;
}

/** One line of `details.causes` of a Status. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The part of a metav1.Status that callers decide by. */
export interface StatusBody {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly StatusCause[];
  };
}

/** Statuses after which the identical request may be accepted: overload and failures inside the server. */
const RETRYABLE_STATUS: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** Thrown when the API server answered, and the answer was not a success. */
export class ApiError extends KubeError {
  override readonly name = 'ApiError';
  readonly code = 'KUBE_API';
  /** HTTP status. */
  readonly status: number;
  /** Machine word of the Status (`NotFound`, `Conflict`, ...); empty when the answer had none. */
  readonly reason: string;
  /** What the server itself said, without the request in front. */
  readonly statusMessage: string;
  readonly causes: readonly StatusCause[];
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(answer: {
    status: number;
    body: StatusBody;
    retryAfterMs?: number | undefined;
    request: string;
  }) {
    const { status, body, request } = answer;
    const said = body.message ?? '(no message)';
    super(`${request}: ${status}${body.reason ? ` ${body.reason}` : ''}: ${said}`);
    this.status = status;
    this.reason = body.reason ?? '';
    this.statusMessage = body.message ?? '';
    this.causes = body.details?.causes ?? [];
    this.retryable = RETRYABLE_STATUS.has(status);
    this.retryAfterMs =
      answer.retryAfterMs ??
      (body.details?.retryAfterSeconds === undefined ? undefined : body.details.retryAfterSeconds * 1000);
  }
}

/** Thrown when no complete answer came back: refused, reset, cut in the middle, TLS failure. */
export class ConnectionError extends KubeError {
  override readonly name = 'ConnectionError';
  readonly code = 'KUBE_CONNECTION';
  readonly retryable = true;
  /** True when not one byte of the request can have reached the server, so any verb may be repeated. */
  readonly neverSent: boolean;

  constructor(request: string, cause: Error & { code?: unknown }) {
    const word = typeof cause.code === 'string' ? cause.code : cause.name;
    super(`${request}: no answer from the API server (${word}): ${cause.message || 'connection failed'}`, {
      cause,
    });
    this.neverSent = NEVER_SENT.has(word);
  }
}

const NEVER_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Thrown when the time given for a call is over. The server may still carry the request out. */
export class DeadlineError extends KubeError {
  override readonly name = 'DeadlineError';
  readonly code = 'KUBE_DEADLINE';
  readonly retryable = true;

  constructor(request: string, deadlineMs: number, cause?: Error) {
    super(`${request}: no answer within ${deadlineMs} ms${cause ? ` (last: ${cause.message})` : ''}`, {
      cause,
    });
  }
}

/** Thrown when the caller's own AbortSignal ended the call. */
export class AbortedError extends KubeError {
  override readonly name = 'AbortedError';
  readonly code = 'KUBE_ABORTED';
  readonly retryable = false;

  constructor(request: string) {
    super(`${request}: aborted by the caller`);
  }
}

/** Given to observers when a watch cannot do its work although nobody refused anything. It is opened again. */
export class WatchError extends KubeError {
  override readonly name = 'WatchError';
  readonly code = 'KUBE_WATCH';
  readonly retryable = true;
}

/** Thrown when the fence of a write was found closed right before the first byte: the request was not sent. */
export class FenceClosedError extends KubeError {
  override readonly name = 'FenceClosedError';
  readonly code = 'KUBE_FENCE_CLOSED';
  readonly retryable = false;

  constructor(request: string) {
    super(`${request}: not sent, because this process may no longer write (lease not renewed in time)`);
  }
}

/** Given to observers of an election when somebody deleted the Lease. The election goes on once it is back. */
export class LeaseMissingError extends KubeError {
  override readonly name = 'LeaseMissingError';
  readonly code = 'KUBE_LEASE_MISSING';
  readonly retryable = false;

  constructor(lease: string, cause: ApiError) {
    super(
      `the Lease ${lease} does not exist, and this service may not create it: until it is back (helm upgrade brings it back) nobody leads`,
      { cause },
    );
  }
}

/**
 * Wraps what is thrown by code we do not own, so that `catch` blocks can rely on Error. Asked of V8, because
 * errors of Node itself are no `instanceof Error` in the realm of a test.
 */
export function asError(thrown: unknown): Error & { code?: unknown } {
  return types.isNativeError(thrown) ? thrown : new Error(String(thrown));
}
