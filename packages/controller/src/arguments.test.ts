import { describe, expect, it } from '@jest/globals';
import { ArgumentsError, readArguments } from './arguments.ts';

describe('the command line', () => {
  it('needs nothing', () => {
    expect(readArguments([])).toEqual({
      config: undefined,
      kubeconfig: undefined,
      printConfig: false,
      help: false,
    });
  });

  it('names the files', () => {
    const found = readArguments(['--config', 'a.yaml', '--kubeconfig=b']);
    expect(found).toMatchObject({ config: 'a.yaml', kubeconfig: 'b' });
  });

  it.each([
    [['--confg', 'a'], /'--confg'/],
    [['--config'], /'--config <value>'/],
    [['stray'], /'stray'/],
    [['--help=yes'], /--help/],
  ])('refuses %j in one line that names it', (args, named) => {
    const refused = (): unknown => readArguments(args);
    expect(refused).toThrow(ArgumentsError);
    expect(refused).toThrow(named);
    expect(refused).not.toThrow(/\n/);
  });
});
