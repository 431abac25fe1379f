import { describe, expect, it } from '@jest/globals';
import { FreshCalls, SharedCalls } from './calls.ts';

/** Calls that end when the test says so. */
class Gates {
  readonly begun: (readonly string[])[] = [];
  readonly #ends: ((result: string) => void)[] = [];
  readonly #fails: ((error: Error) => void)[] = [];

  readonly call = (_: string, needs: readonly string[]): Promise<string> => {
    this.begun.push(needs);
    return new Promise((resolve, reject) => {
      this.#ends.push(resolve);
      this.#fails.push(reject);
    });
  };

  end(index: number, result: string): void {
    this.#ends[index]?.(result);
  }

  fail(index: number, error: Error): void {
    this.#fails[index]?.(error);
  }
}

describe('fresh calls', () => {
  it('begins at once when nothing runs', async () => {
    const gates = new Gates();
    const calls = new FreshCalls(gates.call);
    const first = calls.ask('k', 'a');
    expect(gates.begun).toEqual([['a']]);
    gates.end(0, 'one');
    await expect(first).resolves.toBe('one');
  });

  it('never lets a caller join what has begun, and lets all later ones share the next', async () => {
    const gates = new Gates();
    const calls = new FreshCalls(gates.call);
    const first = calls.ask('k', 'a');
    const later = [calls.ask('k', 'b'), calls.ask('k', 'c')];
    expect(gates.begun).toEqual([['a']]);
    gates.end(0, 'one');
    await first;
    expect(gates.begun).toEqual([['a'], ['b', 'c']]);
    const latest = calls.ask('k', 'd');
    gates.end(1, 'two');
    await expect(Promise.all(later)).resolves.toEqual(['two', 'two']);
    gates.end(2, 'three');
    await expect(latest).resolves.toBe('three');
    expect(gates.begun).toEqual([['a'], ['b', 'c'], ['d']]);
  });

  it('keeps keys apart', async () => {
    const gates = new Gates();
    const calls = new FreshCalls(gates.call);
    const both = [calls.ask('k', 'a'), calls.ask('other', 'b')];
    expect(gates.begun).toEqual([['a'], ['b']]);
    gates.end(0, 'one');
    gates.end(1, 'two');
    await expect(Promise.all(both)).resolves.toEqual(['one', 'two']);
  });

  it('fails those who shared the failed call and nobody else', async () => {
    const gates = new Gates();
    const calls = new FreshCalls(gates.call);
    const first = calls.ask('k', 'a');
    const next = calls.ask('k', 'b');
    gates.fail(0, new Error('reset'));
    await expect(first).rejects.toThrow('reset');
    gates.end(1, 'two');
    await expect(next).resolves.toBe('two');
  });

  it('starts afresh after the last one ended', async () => {
    const gates = new Gates();
    const calls = new FreshCalls(gates.call);
    const first = calls.ask('k', 'a');
    gates.end(0, 'one');
    await first;
    const second = calls.ask('k', 'b');
    gates.end(1, 'two');
    await expect(second).resolves.toBe('two');
  });
});

describe('shared calls', () => {
  it('lets everybody join the call under way', async () => {
    const gates = new Gates();
    const calls = new SharedCalls<string>();
    const both = [calls.ask('k', () => gates.call('k', ['a'])), calls.ask('k', () => gates.call('k', ['b']))];
    expect(gates.begun).toEqual([['a']]);
    gates.end(0, 'one');
    await expect(Promise.all(both)).resolves.toEqual(['one', 'one']);
    const next = calls.ask('k', () => gates.call('k', ['c']));
    gates.end(1, 'two');
    await expect(next).resolves.toBe('two');
  });
});
