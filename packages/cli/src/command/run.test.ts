import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { plain } from '@spotalis/units';
import { commands } from '../commands.ts';
import { readChange } from '../plan/preview.ts';
import { readArguments, wholeNumber } from './arguments.ts';
import { runProgram } from './run.ts';

async function run(...args: string[]) {
  const written: string[] = [];
  const noted: string[] = [];
  const code = await runProgram(args, {
    commands,
    out: {
      style: plain,
      width: undefined,
      write: (text) => void written.push(text),
      note: (text) => void noted.push(text),
    },
    nowMs: () => 0,
    signal: new AbortController().signal,
  });
  return { code, written: written.join('\n'), noted: noted.join('\n') };
}

describe('a command line', () => {
  it.each([
    [['stauts'], 'error: stauts is not a command. Did you mean status?'],
    [['-n', 'shop', 'status'], 'error: the command comes before its flags.'],
    [['status', '--ouput', 'json'], 'error: status: --ouput is not a flag. Did you mean --output?'],
    [['status', '-x'], 'error: status: -x is not a flag.'],
    [['status', '-o', 'jsn'], 'error: --output jsn: allowed are wide, json, yaml. Did you mean json?'],
    [['status', '-n'], 'error: --namespace NAME: the value is missing'],
    [['status', 'web'], 'error: status: "web" is one argument too many'],
    [['status', '--watch=yes'], 'error: status: --watch takes no value'],
    [['explain'], 'error: explain: pod/NAME | deployment/NAME | statefulset/NAME is missing'],
    [['explain', 'web'], 'error: "web" names no kind'],
    [
      ['explain', 'deploymet/web'],
      'error: deploymet is not a kind that this command knows. Did you mean deployment/web?',
    ],
  ])('%j is refused in words that help', async (args, message) => {
    const { code, noted, written } = await run(...args);
    expect(noted).toContain(message);
    expect(noted).toMatch(/Example: /);
    expect(written).toBe('');
    expect(code).toBe(2);
  });

  it('without a command shows how it is used', async () => {
    expect(await run()).toMatchObject({ code: 2, written: expect.stringContaining('Commands:') });
    expect(await run('--help')).toMatchObject({ code: 0 });
  });

  it.each(commands.map(({ name }) => name))('%s has help with examples', async (name) => {
    const { code, written } = await run(name, '--help');
    expect(written).toContain('Examples:\n  kubectl spotalis');
    expect(code).toBe(0);
  });

  it('that names a kubeconfig that is not there fails in one line', async () => {
    const { code, noted } = await run('status', '--kubeconfig', '/nowhere');
    expect(noted).toMatch(/^error: cannot read the kubeconfig \/nowhere: ENOENT[^\n]*$/);
    expect(code).toBe(1);
  });

  it('may join a letter and its value as kubectl does', () => {
    const [status] = commands;
    for (const args of [['-ojson'], ['-o=json'], ['--output=json'], ['-o', 'json']]) {
      expect(readArguments(status!, args).value('output')).toBe('json');
    }
  });

  it.each(['101', '-1', 'many', '7.5'])(
    'with the number %s out of its bounds says what is allowed',
    (text) => {
      const given = { positionals: [], has: () => true, value: () => text };
      const bounds = { least: 0, most: 100, example: '70' };
      expect(() => wholeNumber(given, 'spot-percentage', bounds)).toThrow(
        /needs a whole number from 0 to 100/,
      );
    },
  );

  it('may write a share in percent, and nothing else', () => {
    const given = { positionals: [], has: () => true, value: () => '70%' };
    expect(() => readChange(given)).toThrow('--min-on-demand 70%: needs a whole number from 0 to 10000');
    const share = { ...given, value: (flag: string) => (flag === 'spot-percentage' ? '70%' : undefined) };
    expect(readChange(share)).toMatchObject({ spotPercentage: 70, minOnDemand: undefined });
  });
});

describe('Ctrl-C', () => {
  const directory = mkdtempSync(join(tmpdir(), 'spotalis-'));
  const kubeconfig = join(directory, 'config');
  let atRequest = (): void => undefined;
  /** A cluster without anything in it. */
  const server = createServer((_request, response) => {
    atRequest();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: [] }));
  });

  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const context = { cluster: 'empty', user: 'me' };
    const config = {
      clusters: [
        { name: 'empty', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } },
      ],
      users: [{ name: 'me', user: {} }],
      contexts: [{ name: 'here', context }],
      'current-context': 'here',
    };
    writeFileSync(kubeconfig, JSON.stringify(config));
  });

  afterAll(() => {
    server.close();
    // Those of calls that were given up in the middle.
    server.closeAllConnections();
    rmSync(directory, { recursive: true });
  });

  /** The exit code when it comes while the cluster is asked, or when all has been shown. */
  async function interrupted(args: readonly string[], when: 'asking' | 'shown') {
    const stop = new AbortController();
    const noted: string[] = [];
    atRequest = () => when === 'asking' && stop.abort();
    const note = (text: string): void => {
      noted.push(text);
      if (when === 'shown') stop.abort();
    };
    const code = await runProgram([...args, '--kubeconfig', kubeconfig], {
      commands,
      out: { style: plain, width: undefined, write: note, note },
      nowMs: () => 0,
      signal: stop.signal,
    });
    return { code, noted };
  }

  it.each([['status'], ['doctor'], ['plan', 'deployment/web'], ['enable', 'deployment/web', '--yes']])(
    'ends %s with 130, so that nothing that was to follow is done',
    async (...args) => {
      expect(await interrupted(args, 'asking')).toEqual({ code: 130, noted: [] });
    },
  );

  it('ends with 130 also what has its answer', async () => {
    expect(await interrupted(['doctor'], 'shown')).toMatchObject({ code: 130 });
  });

  it.each(['asking', 'shown'] as const)('is how status --watch ends, here while %s', async (when) => {
    expect(await interrupted(['status', '--watch'], when)).toMatchObject({ code: 0 });
  });
});
