import type { Command } from './command/command.ts';
import { exitCodes } from './command/error.ts';

/** Put in by the bundle; from source there is none. */
export const version = process.env['SPOTALIS_VERSION'] ?? 'from source';

export const versionCommand: Command = {
  name: 'version',
  summary: 'the version of this program',
  positionals: { usage: '', least: 0, most: 0 },
  flags: [],
  examples: ['kubectl spotalis version'],
  isLocal: true,
  run: ({ out }) => {
    out.write(version);
    return Promise.resolve(exitCodes.done.code);
  },
};
