import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { unlessStamped } from './stamp.mjs';

describe('the stamp of finished work', () => {
  let directory;
  let stamp;
  const work = jest.fn();

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stamp-test-'));
    stamp = join(directory, 'stamp');
    work.mockReset();
  });

  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  it('spares it for as long as the fingerprint is the same', () => {
    unlessStamped(stamp, 'old', work);
    unlessStamped(stamp, 'old', work);
    expect(work).toHaveBeenCalledTimes(1);
    unlessStamped(stamp, 'new', work);
    expect(work).toHaveBeenCalledTimes(2);
  });

  it('is gone when later work failed, even for the fingerprint it was made for', () => {
    unlessStamped(stamp, 'old', work);
    work.mockImplementationOnce(() => {
      throw new Error('killed half way');
    });
    expect(() => unlessStamped(stamp, 'new', work)).toThrow('killed half way');
    unlessStamped(stamp, 'old', work);
    expect(work).toHaveBeenCalledTimes(3);
  });
});
