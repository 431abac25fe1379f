/**
 * Which job a free lane takes next: the one that takes longest among those whose parts are there, so that no lane is
 * left with a long one at the end. Undefined: wait.
 */
export function nextJob({ waiting, ready }) {
  const possible = waiting.filter(({ needs }) => needs.every((need) => ready.has(need)));
  return possible.toSorted((one, other) => other.seconds - one.seconds)[0];
}

/**
 * Plays all jobs in so many lanes and resolves with what could not be played, because a part it needs is not to be
 * had. `parts` has a promise for each need: of true once it is there, of false if it never will be.
 */
export async function playInLanes({ jobs, lanes, parts, play, ending }) {
  const ready = new Set();
  const settling = new Map();
  for (const [need, promise] of Object.entries(parts)) {
    settling.set(
      need,
      promise.then((there) => {
        settling.delete(need);
        if (there) ready.add(need);
      }),
    );
  }
  const waiting = [...jobs];
  const running = new Set();
  for (;;) {
    while (running.size < lanes && !ending?.aborted) {
      const job = nextJob({ waiting, ready });
      if (job === undefined) break;
      waiting.splice(waiting.indexOf(job), 1);
      const played = play(job).finally(() => running.delete(played));
      running.add(played);
    }
    const hope = ending?.aborted
      ? []
      : waiting.flatMap(({ needs }) => needs.map((need) => settling.get(need)).filter(Boolean));
    if (running.size === 0 && hope.length === 0) return waiting;
    await Promise.race([...running, ...hope]);
  }
}
