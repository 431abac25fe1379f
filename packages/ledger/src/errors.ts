export type LedgerErrorCode =
  /** No connection. The client reconnects by itself; answer this admission by the outage rule. */
  | 'LEDGER_DISCONNECTED'
  /** No answer within the command's deadline. The command may have been carried out all the same. */
  | 'LEDGER_TIMEOUT'
  /** An earlier call failed and one other caller is trying again at this moment. */
  | 'LEDGER_CIRCUIT_OPEN'
  /** Redis answered with an error. Loading or failing over passes; a missing right does not: read the message. */
  | 'LEDGER_REFUSED'
  /** The ledger was lost under a merge more often than it is tried. The next resync does it. */
  | 'LEDGER_LOST'
  /** `close` was called. */
  | 'LEDGER_CLOSED';

/** Thrown when the ledger could not answer. Nothing may be concluded about whether the command took effect. */
export class LedgerUnavailable extends Error {
  readonly code: LedgerErrorCode;
  readonly retryable: boolean;

  constructor(code: LedgerErrorCode, message: string, options?: ErrorOptions & { retryable?: boolean }) {
    super(message, options);
    this.name = 'LedgerUnavailable';
    this.code = code;
    this.retryable = options?.retryable ?? code !== 'LEDGER_CLOSED';
  }
}
