import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where programs are kept between runs, outside the source tree. */
export function cacheDir(env: NodeJS.ProcessEnv = process.env): string {
  if (env['SPOTALIS_CACHE_DIR']) return env['SPOTALIS_CACHE_DIR'];
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'spotalis');
}
