/** What the program's end tells a script. Documented in docs/cli.md. */
export const exitCodes = {
  done: { code: 0, meaning: 'it was done, or shown' },
  failed: {
    code: 1,
    meaning: 'it could not be done: the cluster did not answer, refused, or has no such thing',
  },
  usage: { code: 2, meaning: 'the command line cannot be meant' },
  no: {
    code: 3,
    meaning:
      'the answer is no: a plan that does not reach its target, a preview that nobody confirmed, something that the doctor found',
  },
  /** What a shell gives to what SIGINT ended, so that `&&` does not go on. */
  interrupted: { code: 130, meaning: 'Ctrl-C interrupted it; watching is meant to end so, with 0' },
} as const;

type CliErrorCode = 'USAGE' | 'NOT_FOUND' | 'FORBIDDEN' | 'REFUSED';

/** Thrown for what a person has to change. The message says what, `hint` how. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: CliErrorCode;
  readonly hint: string | undefined;

  constructor(code: CliErrorCode, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }

  get exitCode(): number {
    return this.code === 'USAGE' ? exitCodes.usage.code : exitCodes.failed.code;
  }
}
