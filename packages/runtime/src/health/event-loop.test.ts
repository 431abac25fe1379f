import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventLoop } from './event-loop.ts';

const windowMs = 1_000;

describe('the lag of the event loop', () => {
  let samplesMs: number[];
  let eventLoop: EventLoop;

  beforeEach(() => {
    jest.useFakeTimers();
    samplesMs = [];
    eventLoop = new EventLoop({
      maxLagMs: 50,
      windowMs,
      delays: {
        get count() {
          return samplesMs.length;
        },
        // As the real one answers when it has none.
        percentile: () => (samplesMs[0] ?? 0) * 1e6,
        reset: () => void samplesMs.splice(0),
        enable: () => true,
        disable: () => true,
      },
    });
    eventLoop.start();
  });

  afterEach(() => {
    eventLoop.stop();
    jest.useRealTimers();
  });

  it('is that of the last window', () => {
    samplesMs.push(140);
    jest.advanceTimersByTime(windowMs);
    expect(eventLoop).toMatchObject({ lagMs: 120, alive: false });
    samplesMs.push(21);
    jest.advanceTimersByTime(windowMs);
    expect(eventLoop).toMatchObject({ lagMs: 1, alive: true });
  });

  it('is not over because a window passed without a sample: nothing ran in it', () => {
    samplesMs.push(140);
    jest.advanceTimersByTime(2 * windowMs);
    expect(eventLoop).toMatchObject({ lagMs: 120, alive: false });
  });
});
