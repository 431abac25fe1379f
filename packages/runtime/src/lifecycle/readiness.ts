export type CheckResult =
  | { readonly ok: true; readonly note?: string }
  | { readonly ok: false; readonly reason: string };

/**
 * True, or what people should know all the same; or the reason why not. Called at every probe: it looks at state, it
 * does not do I/O.
 */
export type ReadinessCheck = () => true | { readonly note: string } | string;

/** Named checks; ready means that each of them passes. A check that throws does not pass. */
export class Readiness {
  readonly #checks = new Map<string, ReadinessCheck>();

  add(name: string, check: ReadinessCheck): void {
    if (this.#checks.has(name)) throw new Error(`there is a readiness check named ${name} already`);
    this.#checks.set(name, check);
  }

  check(): ReadonlyMap<string, CheckResult> {
    return new Map([...this.#checks].map(([name, check]) => [name, run(check)]));
  }

  get ready(): boolean {
    return [...this.check().values()].every(({ ok }) => ok);
  }
}

function run(check: ReadinessCheck): CheckResult {
  try {
    const answer = check();
    if (typeof answer === 'string') return { ok: false, reason: answer };
    return answer === true ? { ok: true } : { ok: true, note: answer.note };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}
