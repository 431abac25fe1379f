import { describe, expect, it } from '@jest/globals';
import { cpuMs, filesMiB, rssMiB, total } from './processes.ts';

const linux = process.platform === 'linux' ? it : it.skip;

describe('a process in /proc', () => {
  linux('has used as much CPU as it says itself', () => {
    const { user, system } = process.cpuUsage();
    const measured = cpuMs(process.pid) ?? Number.NaN;
    // Both in full ticks of 10 ms, and a little goes by in between.
    expect(Math.abs(measured - (user + system) / 1000)).toBeLessThan(50);
  });

  linux('holds as much memory as it says itself', () => {
    const itself = process.memoryUsage.rss() / 1024 ** 2;
    expect(Math.abs((rssMiB(process.pid) ?? 0) - itself)).toBeLessThan(20);
    expect(filesMiB(process.pid)).toBeGreaterThan(1);
    expect(filesMiB(process.pid)).toBeLessThan(itself);
  });

  it('is nothing to ask when it does not exist', () => {
    expect(cpuMs(2 ** 30)).toBeUndefined();
    expect(rssMiB(2 ** 30)).toBeUndefined();
  });
});

describe('a total', () => {
  it('is unknown as soon as one part is', () => {
    expect(total([1, 2], (pid) => pid * 10)).toBe(30);
    expect(total([1, 2], (pid) => (pid === 2 ? undefined : 10))).toBeUndefined();
  });
});
