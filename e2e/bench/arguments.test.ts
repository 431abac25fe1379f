import { describe, expect, it } from '@jest/globals';
import { readCommand } from './arguments.ts';

const known = ['core', 'ledger', 'burst'];

describe('the arguments of the benchmarks', () => {
  it('mean everything when no name is given', () => {
    expect(readCommand([], known)).toEqual({
      kind: 'run',
      names: known,
      quick: false,
      jsonFile: undefined,
      writeDocs: false,
    });
  });

  it('keep the order of the benchmarks, not that of the names', () => {
    expect(readCommand(['burst', '--quick', 'core', '--json', 'a.json', '--write-docs'], known)).toEqual({
      kind: 'run',
      names: ['core', 'burst'],
      quick: true,
      jsonFile: 'a.json',
      writeDocs: true,
    });
  });

  it('name an unknown benchmark and those that exist', () => {
    expect(readCommand(['core', 'webhok'], known)).toEqual({
      kind: 'wrong',
      problem: "there is no benchmark 'webhok': choose from core, ledger, burst",
    });
  });

  it('name an unknown option and those that exist', () => {
    expect(readCommand(['--fast'], known)).toEqual({
      kind: 'wrong',
      problem: "Unknown option '--fast': the options are --quick, --json FILE, --write-docs and --help",
    });
  });

  it('ask for help', () => {
    expect(readCommand(['core', '-h'], known)).toEqual({ kind: 'help' });
  });
});
