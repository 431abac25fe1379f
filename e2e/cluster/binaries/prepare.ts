import { join } from 'node:path';
import { isProgram } from '../process/path.ts';
import { cachedProgram, PROGRAM_NAMES, type ProgramName, type Programs } from './programs.ts';

export interface PrepareOptions {
  /** Where all five programs are; SPOTALIS_BINARIES without it. */
  readonly dir?: string | undefined;
  readonly report?: (line: string) => void;
}

export class BinariesMissing extends Error {
  readonly code = 'BINARIES_MISSING';
}

export async function prepareBinaries({
  dir = process.env['SPOTALIS_BINARIES'],
}: PrepareOptions = {}): Promise<Programs> {
  if (dir) return fromDirectory(dir);
  const missing = PROGRAM_NAMES.filter((name) => !isProgram(cachedProgram(name)));
  if (missing.length > 0) throw new BinariesMissing(`not in the cache: ${missing.join(', ')}`);
  return collect(cachedProgram);
}

function fromDirectory(dir: string): Programs {
  const missing = PROGRAM_NAMES.filter((name) => !isProgram(join(dir, name)));
  if (missing.length > 0) throw new BinariesMissing(`${dir} has no ${missing.join(', no ')} that can be run`);
  return collect((name) => join(dir, name));
}

function collect(where: (name: ProgramName) => string): Programs {
  return {
    etcd: where('etcd'),
    'kube-apiserver': where('kube-apiserver'),
    'kube-controller-manager': where('kube-controller-manager'),
    'kube-scheduler': where('kube-scheduler'),
    kwok: where('kwok'),
  };
}
