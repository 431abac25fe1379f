import { cpus, release, totalmem, type } from 'node:os';

/** What a reader has to know about the machine to make sense of a number. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
}

export function thisMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() || process.arch,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    system: `${type()} ${release().split('-', 1)[0]}`,
    node: process.versions.node,
  };
}
