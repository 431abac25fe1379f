import { describe, expect, it } from '@jest/globals';
import { nextJob, playInLanes } from './lanes.mjs';

const job = (name, seconds, { needs = [] } = {}) => ({ name, seconds, needs });

describe('the next job of a lane', () => {
  const short = job('short', 1);
  const long = job('long', 9);
  const helm = job('helm', 50, { needs: ['helm'] });
  const next = (waiting, { ready = [] } = {}) => nextJob({ waiting, ready: new Set(ready) });

  it('is the longest', () => {
    expect(next([short, long])).toBe(long);
  });

  it('has all its parts', () => {
    expect(next([helm, short])).toBe(short);
    expect(next([helm, short], { ready: ['helm'] })).toBe(helm);
    expect(next([helm])).toBeUndefined();
  });
});

describe('jobs in lanes', () => {
  const there = Promise.resolve(true);

  async function playing({ jobs, lanes = 2, parts = {}, ending }) {
    const began = [];
    const ends = new Map();
    let most = 0;
    const left = playInLanes({
      jobs,
      lanes,
      parts,
      ending,
      play: ({ name }) => {
        began.push(name);
        most = Math.max(most, ends.size + 1);
        return new Promise((resolve) => ends.set(name, resolve));
      },
    });
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const end = async (name) => {
      ends.get(name)();
      ends.delete(name);
      await turn();
    };
    await turn();
    return { began, end, left, turn, most: () => most };
  }

  it('never run in more lanes than there are', async () => {
    const jobs = [job('a', 3), job('b', 2), job('c', 1)];
    const { began, end, left, most } = await playing({ jobs });
    expect(began).toEqual(['a', 'b']);
    await end('b');
    expect(began).toEqual(['a', 'b', 'c']);
    await end('a');
    await end('c');
    expect(await left).toEqual([]);
    expect(most()).toBe(2);
  });

  it('wait for their parts, and are left if these cannot be had', async () => {
    let settle;
    const helm = new Promise((resolve) => {
      settle = resolve;
    });
    const jobs = [job('chart', 9, { needs: ['helm'] }), job('redis', 1, { needs: ['redis'] })];
    const one = await playing({ jobs, parts: { helm, redis: there } });
    expect(one.began).toEqual(['redis']);
    await one.end('redis');
    settle(false);
    expect(await one.left).toEqual([jobs[0]]);

    const other = await playing({ jobs, parts: { helm: there, redis: there } });
    expect(other.began).toEqual(['chart', 'redis']);
  });

  it('begin no more once an end is wanted', async () => {
    const end = new AbortController();
    const jobs = [job('a', 2), job('b', 1)];
    const one = await playing({ jobs, lanes: 1, ending: end.signal });
    end.abort();
    await one.end('a');
    expect(await one.left).toEqual([jobs[1]]);
    expect(one.began).toEqual(['a']);
  });
});
