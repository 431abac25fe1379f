import { run } from '../process/run.ts';
import type { PrometheusPrograms } from './program.ts';

/** Runs it in `cwd`; resolves with what it says, and fails with that where it finds fault. */
export async function promtool(
  { promtool: program }: PrometheusPrograms,
  args: readonly string[],
  cwd: string,
): Promise<string> {
  const { ok, stdout, stderr } = await run(program, args, {}, cwd);
  if (!ok) throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}
