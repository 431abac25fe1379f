import { describe, expect, it } from '@jest/globals';
import { CommandError, readCommand } from './command.ts';

const read = (...args: string[]) => readCommand(args, 'spotalis-tester', 'Tests things.');

describe('the command line of a service', () => {
  it('needs nothing', () => {
    expect(read()).toEqual({ kind: 'run', configFile: undefined, kubeconfig: undefined });
  });

  it('names the files', () => {
    const found = read('--config', 'a.yaml', '--kubeconfig=b', '--print-config');
    expect(found).toEqual({ kind: 'print-config', configFile: 'a.yaml', kubeconfig: 'b' });
  });

  it('shows how it is used', () => {
    const found = read('--help');
    expect(found).toMatchObject({
      usage: expect.stringMatching(/^Usage: spotalis-tester .*\n\nTests things\./),
    });
  });

  it.each([
    [['--confg', 'a'], /'--confg'/],
    [['--config'], /'--config <value>'/],
    [['stray'], /'stray'/],
    [['--help=yes'], /--help/],
  ])('refuses %j in one line that names it', (args, named) => {
    const refused = (): unknown => read(...args);
    expect(refused).toThrow(CommandError);
    expect(refused).toThrow(named);
    expect(refused).not.toThrow(/\n/);
  });
});
