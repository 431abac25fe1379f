import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type MountedFiles, mountFiles } from '../testing/directory.ts';
import { until } from '../testing/until.ts';
import { FileWatch } from './watch.ts';

let mounted: MountedFiles;
let watch: FileWatch;

afterEach(async () => {
  await watch.stop();
  await mounted.remove();
});

async function follow(pollMs: number) {
  mounted = await mountFiles({ a: '1', b: '1' });
  const seen: string[] = [];
  const paths = [join(mounted.path, 'a'), join(mounted.path, 'b')];
  watch = new FileWatch({
    paths,
    pollMs,
    changed: (states) => {
      seen.push([...states.values()].map((state) => ('text' in state ? state.text : state.missing)).join());
    },
  });
  const first = await watch.start();
  return { seen, first, paths };
}

const notAtAllMs = 3_600_000;

describe('watched files', () => {
  it('are told once for a swap of all of them, by notification alone', async () => {
    const { seen, first } = await follow(notAtAllMs);
    expect([...first.values()]).toEqual([{ text: '1' }, { text: '1' }]);
    await mounted.swap({ a: '2', b: '2' });
    await until('the change', () => seen.length > 0);
    expect(seen).toEqual(['2,2']);
  });

  it('that are replaced by the same content are not told', async () => {
    const { seen } = await follow(5);
    await mounted.swap({ a: '1', b: '1' });
    await mounted.swap({ a: '1', b: '3' });
    await until('the change', () => seen.length > 0);
    expect(seen).toEqual(['1,3']);
  });

  it('may go away and come back', async () => {
    const { seen } = await follow(5);
    await rm(join(mounted.path, '..data'));
    await until('the loss', () => seen.length > 0);
    await mounted.swap({ a: '4', b: '4' });
    await until('the return', () => seen.length > 1);
    expect(seen).toEqual(['ENOENT,ENOENT', '4,4']);
  });

  it('are followed on when who was told of a change failed', async () => {
    mounted = await mountFiles({ a: '1' });
    const seen: string[] = [];
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation((warning) => {
      seen.push(String(warning));
    });
    watch = new FileWatch({
      paths: [join(mounted.path, 'a')],
      pollMs: 5,
      changed: (states) => {
        const told = JSON.stringify([...states.values()]);
        if (told.includes('2')) throw new Error('fault');
        seen.push(told);
      },
    });
    await watch.start();
    await mounted.swap({ a: '2' });
    await until('the warning', () => seen.length > 0);
    await mounted.swap({ a: '3' });
    await until('the next change', () => seen.length > 1);
    warned.mockRestore();
    expect(seen).toEqual([`${mounted.path}/a: a change was not taken over (fault)`, '[{"text":"3"}]']);
  });

  it('are let go by a stop', async () => {
    const { seen } = await follow(1);
    await watch.stop();
    await mounted.swap({ a: '5', b: '5' });
    await watch.stop();
    expect(seen).toEqual([]);
  });

  it('are never told half-way through a swap', async () => {
    const { seen } = await follow(1);
    for (let turn = 2; turn <= 60; turn++) await mounted.swap({ a: String(turn), b: String(turn) });
    await until('the last swap', () => seen.at(-1) === '60,60');
    expect(seen.filter((pair) => !/^(\d+),\1$/.test(pair))).toEqual([]);
  });
});
