/** CPU time that is spent to find out how much of a CPU this process gets. */
const SAMPLE_MS = 60;

/** Deadlines of waits are chosen for an idle machine: a test has at least twice that, as others run beside it. */
const LEAST = 2;

/**
 * How many times as long as on an idle machine to wait for something: by the time that a piece of work takes here,
 * compared with the CPU time in it. The programs that are waited for have as little CPU as this process.
 */
export function measurePatience(): number {
  const began = performance.now();
  const beganCpu = process.cpuUsage();
  let cpuMs = 0;
  while (cpuMs < SAMPLE_MS) {
    const { user, system } = process.cpuUsage(beganCpu);
    cpuMs = (user + system) / 1_000;
  }
  return LEAST * Math.max(1, (performance.now() - began) / cpuMs);
}

/** The factor of the test that runs; 1 outside of tests. */
export function patience(): number {
  return Number(process.env['SPOTALIS_TEST_PATIENCE'] ?? 1);
}
