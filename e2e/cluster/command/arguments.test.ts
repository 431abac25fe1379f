import { describe, expect, it } from '@jest/globals';
import { readArguments } from './arguments.ts';

const read = (line: string) => readArguments(line.split(' ').filter(Boolean));

describe('the arguments of the cluster command', () => {
  it('fill in what a user leaves out', () => {
    expect(read('up --state /tmp/a')).toEqual({
      command: 'up',
      json: false,
      plan: {
        stateDir: '/tmp/a',
        spotNodes: 6,
        onDemandNodes: 6,
        podsPerNode: 110,
        redis: 'none',
        webhooks: 0,
        controllers: 0,
        audit: false,
        realNode: false,
      },
    });
  });

  it('take every option of up', () => {
    const line =
      'up --state /tmp/a --spot-nodes 0 --on-demand-nodes=3 --pods-per-node 500 --redis real --webhooks 3 --controllers 2 --audit --real-node --port 6443 --binaries /opt/bin --json';
    expect(read(line)).toEqual({
      command: 'up',
      json: true,
      plan: {
        stateDir: '/tmp/a',
        spotNodes: 0,
        onDemandNodes: 3,
        podsPerNode: 500,
        redis: 'real',
        webhooks: 3,
        controllers: 2,
        audit: true,
        realNode: true,
        port: 6443,
        binaries: '/opt/bin',
      },
    });
  });

  it('take a relative state directory from where the user stands', () => {
    expect(read('down --state here')).toEqual({
      command: 'down',
      stateDir: `${process.cwd()}/here`,
      json: false,
    });
  });

  it.each(['', '--help', 'up -h'])('show the usage for "%s"', (line) => {
    expect(read(line)).toEqual({ command: 'help' });
  });

  it.each([
    ['start --state /tmp/a', 'there is no command start: say one of up, down, status'],
    ['--state /tmp/a', 'a command is missing: say one of up, down, status'],
    ['up', 'up needs --state DIR, as in --state /tmp/spotalis'],
    [
      'up --state /tmp/a --controllers 2',
      'services need a ledger: add --redis real, or --redis memory for one webhook',
    ],
    [
      'up --state /tmp/a --redis memory --webhooks 2',
      '--redis memory serves one webhook, not 2: each would have a ledger of its own; say --redis real',
    ],
    ['up /tmp/a --state /tmp/a', 'up takes no /tmp/a: options start with --, as in --state DIR'],
    [
      'up --state /tmp/a --nodes 3',
      "Unknown option '--nodes': npm run cluster -- --help shows what there is",
    ],
    [
      'up --state',
      "Option '--state <value>' argument missing: npm run cluster -- --help shows what there is",
    ],
    ['up --state /tmp/a --spot-nodes -1', /--spot-nodes/],
    ['up --state /tmp/a --spot-nodes six', "--spot-nodes is a whole number from 0 to 5000, not 'six'"],
    ['up --state /tmp/a --port 0', "--port is a whole number from 1 to 65535, not '0'"],
    ['up --state /tmp/a --redis memcached', "--redis is real, memory or none, not 'memcached'"],
    ['status --state /tmp/a --audit', '--audit is for up, not for status'],
  ])('refuse "%s" in one line', (line, message) => {
    expect(() => read(line)).toThrow(message);
    expect(() => read(line)).not.toThrow(/\n/);
  });
});
