import { appendFileSync } from 'node:fs';

/** Says what is going on for as long as it goes on, so that minutes of building never look like a hang. */
export interface Progress {
  say(line: string): void;
  /** Repeats `what` with the time it has taken until the work is done. */
  during<T>(what: string, work: () => Promise<T>): Promise<T>;
}

const HEARTBEAT_MS = 15_000;
const SPIN_MS = 250;
const FRAMES = ['-', '\\', '|', '/'];

/** A line at the start, at every heartbeat and at the end: for logs, and for callers who show lines their way. */
export function lineProgress(say: (line: string) => void, heartbeatMs = HEARTBEAT_MS): Progress {
  return {
    say,
    async during(what, work) {
      const elapsed = stopwatch();
      say(`${what} ...`);
      const heartbeat = setInterval(() => say(`${what}: still at it after ${elapsed()}`), heartbeatMs);
      try {
        const result = await work();
        say(`${what}: done in ${elapsed()}`);
        note(what, elapsed.seconds());
        return result;
      } finally {
        clearInterval(heartbeat);
      }
    },
  };
}

/** A spinner on a terminal, lines everywhere else. */
export function terminalProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  const lines = lineProgress((line) => stream.write(`${line}\n`));
  if (!stream.isTTY) return lines;
  return {
    ...lines,
    async during(what, work) {
      const elapsed = stopwatch();
      let frame = 0;
      const spin = setInterval(
        () => stream.write(`\r${FRAMES[frame++ % FRAMES.length]} ${what} ${elapsed()} `),
        SPIN_MS,
      );
      try {
        const result = await work();
        stream.write(`\r${what}: done in ${elapsed()}  \n`);
        note(what, elapsed.seconds());
        return result;
      } catch (error) {
        stream.write('\n');
        throw error;
      } finally {
        clearInterval(spin);
      }
    },
  };
}

/** For the runner of all tests, whose table has what each program took. */
function note(what: string, seconds: number): void {
  const file = process.env['SPOTALIS_PROGRAMS_FILE'];
  if (file) appendFileSync(file, `${JSON.stringify({ what, seconds })}\n`);
}

function stopwatch(): { (): string; seconds(): number } {
  const start = performance.now();
  const seconds = () => Math.round((performance.now() - start) / 1000);
  const told = () => {
    const all = seconds();
    return all < 60 ? `${all} s` : `${Math.floor(all / 60)} min ${all % 60} s`;
  };
  return Object.assign(told, { seconds });
}
