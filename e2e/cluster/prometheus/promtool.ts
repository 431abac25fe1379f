import { announce } from '../process/announce.ts';
import { run } from '../process/run.ts';
import { findPrometheus } from './program.ts';

/** Runs it in `cwd`; resolves with what it says, and fails with that where it finds fault. */
export async function promtool(args: readonly string[], cwd: string): Promise<string> {
  const { promtool: program } = await findPrometheus(announce);
  const { ok, stdout, stderr } = await run(program, args, {}, cwd);
  if (!ok) throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}
