import { describe, expect, it } from '@jest/globals';
import { eventsOf } from './source.ts';

describe('eventsOf', () => {
  it('gives the event loop its turn in the middle of one big chunk', async () => {
    const event = `${JSON.stringify({ type: 'ADDED', object: { padding: 'x'.repeat(3_000) } })}\n`;
    const chunk = Buffer.from(event.repeat(10_000));
    let turns = 0;
    let running = true;
    const turn = (): void => {
      turns++;
      if (running) {
        setImmediate(turn);
      }
    };
    setImmediate(turn);
    const body = (async function* () {
      yield chunk;
    })();
    let events = 0;
    for await (const { type } of eventsOf({ status: 200, body, close: () => {} }, 'test')) {
      events += type === 'ADDED' ? 1 : 0;
    }
    running = false;
    expect(events).toBe(10_000);
    // One per 5 ms, and no machine reads 30 MB in 25 ms. A busy one takes longer, with as many turns or more.
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it('closes the stream when its reader leaves', async () => {
    let closed = false;
    const body = (async function* () {
      yield Buffer.from('{"type":"BOOKMARK","object":{}}\n');
    })();
    const close = (): void => {
      closed = true;
    };
    const events = eventsOf({ status: 200, body, close }, 'test');
    await events.next();
    await events.return(undefined);
    expect(closed).toBe(true);
  });
});
