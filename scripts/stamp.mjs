import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Does the work unless the stamp says that it was finished for this very fingerprint. Work that fails or is killed
 * leaves no stamp: an older one would vouch for what is half replaced.
 */
export function unlessStamped(stamp, fingerprint, work) {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint) return;
  rmSync(stamp, { force: true });
  work();
  writeFileSync(stamp, fingerprint);
}
