import { join } from 'node:path';
import { lineProgress } from '../binaries/progress.ts';
import { cacheDir } from '../cache.ts';
import { unpackDebianPackages } from '../process/debian.ts';
import { mustBeDeclared } from '../process/declared.ts';
import { withLock } from '../process/lock.ts';
import { findProgram, isProgram } from '../process/path.ts';

export interface PrometheusPrograms {
  readonly prometheus: string;
  readonly promtool: string;
}

const FETCH_TIMEOUT_MS = 10 * 60_000;

/** From PATH, from the cache, or unpacked into the cache from the Debian package: nothing is installed. */
export async function findPrometheus(
  report: (line: string) => void,
): Promise<PrometheusPrograms | { readonly missing: string }> {
  mustBeDeclared('prometheus');
  const prometheus = findProgram('prometheus');
  const promtool = findProgram('promtool');
  if (prometheus && promtool) return { prometheus, promtool };
  const home = join(cacheDir(), 'prometheus');
  const cached = { prometheus: join(home, 'usr/bin/prometheus'), promtool: join(home, 'usr/bin/promtool') };
  const fetch = async (): Promise<PrometheusPrograms | { readonly missing: string }> => {
    if (isProgram(cached.prometheus)) return cached;
    report('prometheus is not on PATH: unpacking the Debian package into the cache (nothing is installed)');
    const result = await lineProgress(report).during('fetching prometheus', () =>
      unpackDebianPackages(['prometheus'], home, () => Promise.resolve()),
    );
    return result.ok ? cached : { missing: `there is no prometheus on PATH, and ${result.reason}` };
  };
  const waiting = (pid: number) => report(`prometheus: waiting for process ${pid}, which is fetching it`);
  return withLock(`${home}.lock`, fetch, waiting, FETCH_TIMEOUT_MS);
}
