import { type ChildProcess, spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { waitFor } from '../process/wait.ts';

/** A program on a pseudo terminal, as a person would run it. util-linux' `script` keeps the terminal. */
export class Terminal {
  readonly #child: ChildProcess;
  #seen = '';
  #exit: number | null | undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#seen += text));
    child.on('exit', (code) => (this.#exit = code));
  }

  static open(
    command: string,
    { env, columns = 100 }: { readonly env: NodeJS.ProcessEnv; readonly columns?: number },
  ): Terminal {
    const line = `stty cols ${columns} rows 40; exec ${command}`;
    return new Terminal(
      spawn('script', ['-qefc', line, '/dev/null'], {
        env: { ...env, TERM: 'xterm', SHELL: '/bin/sh' },
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
  }

  /** All that was written, with every control character. */
  get seen(): string {
    return this.#seen;
  }

  /** What is left of it on the screen, in one line after another. */
  get read(): string {
    const [first = '', ...afterBackspaces] = stripVTControlCharacters(this.#seen).split('\b');
    return afterBackspaces.reduce((text, more) => text.slice(0, -1) + more, first);
  }

  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  async until(what: string, isSeen: () => boolean, timeoutMs = 20_000): Promise<void> {
    await waitFor(what, isSeen, { timeoutMs, intervalMs: 20 }).catch((error: unknown) => {
      throw new Error(`${String(error)}; on the screen: ${JSON.stringify(this.#seen.slice(-2_000))}`);
    });
  }

  /** The exit code, when it has ended by itself. */
  async ended(timeoutMs = 10_000): Promise<number | null> {
    await waitFor('the program to end', () => this.#exit !== undefined, { timeoutMs, intervalMs: 20 });
    return this.#exit ?? null;
  }

  close(): void {
    // With it the terminal is gone, which no shell survives; to SIGTERM an interactive one is deaf.
    if (this.#exit === undefined) this.#child.kill('SIGKILL');
  }
}
