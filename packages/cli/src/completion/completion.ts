import type { Command } from '../command/command.ts';
import { exitCodes } from '../command/error.ts';
import { scripts, shells } from './script.ts';

export const completionCommand: Command = {
  name: 'completion',
  summary: 'a script by which a shell completes this program',
  details:
    'For `kubectl spotalis` itself save `completion kubectl` as an executable `kubectl_complete-spotalis` on the PATH; the others\ncomplete `kubectl-spotalis`.',
  positionals: { usage: 'bash|zsh|fish|kubectl', least: 1, most: 1, choices: shells },
  flags: [],
  examples: ['kubectl spotalis completion bash > ~/.kubectl-spotalis.bash'],
  isLocal: true,
  run: ({ out, positionals: [text] }) => {
    const shell = shells.find((one) => one === text) ?? 'bash';
    out.write(scripts[shell]);
    return Promise.resolve(exitCodes.done.code);
  },
};
