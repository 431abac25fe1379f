/**
 * `npm start`: a live cluster whose workloads are being split, and a menu of things to do to it. Real API server,
 * real services; Redis if there is one or can be had, else the embedded ledger.
 */
import { readArguments, usage } from './arguments.ts';
import { Interrupted, untilInterrupted } from './interruption.ts';
import { tour } from './tour.ts';

try {
  const plan = readArguments(process.argv.slice(2));
  if (plan === undefined) process.stdout.write(usage);
  else await untilInterrupted((place) => tour(plan, place));
} catch (error) {
  if (!(error instanceof Interrupted)) {
    process.stderr.write(`spotalis: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
// What an interrupted start-up still waits for is of no use to anybody.
process.exit();
