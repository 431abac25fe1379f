import { describe, expect, it } from '@jest/globals';
import { Leading } from './leading.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('leading', () => {
  it('begins its duties in order, and then the modules', () => {
    const order: string[] = [];
    const duty = (name: string) => () => {
      order.push(name);
      return () => undefined;
    };
    const modules = { start: () => void order.push('modules'), stop: () => Promise.resolve() };
    new Leading([duty('first'), duty('second')], modules).start();
    expect(order).toEqual(['first', 'second', 'modules']);
  });

  it('ends when all that began with it has come to its end', async () => {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const modules = { start: () => undefined, stop: () => Promise.resolve() };
    const leading = new Leading([() => () => undefined, () => () => ended], modules);
    leading.start();
    const order: string[] = [];
    const stopped = leading.stop().then(() => order.push('stopped'));
    await settle();
    order.push('ended');
    end();
    await stopped;
    expect(order).toEqual(['ended', 'stopped']);
  });
});
