import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory that changes the way the kubelet changes a mounted ConfigMap or Secret. */
export interface MountedFiles {
  readonly path: string;
  /** Replaces all files at once by swapping the `..data` symlink. */
  swap(files: Readonly<Record<string, string>>): Promise<void>;
  remove(): Promise<void>;
}

export async function mountFiles(files: Readonly<Record<string, string>>): Promise<MountedFiles> {
  const path = await mkdtemp(join(tmpdir(), 'spotalis-'));
  let generation = 0;
  const swap = async (next: Readonly<Record<string, string>>): Promise<void> => {
    generation += 1;
    const data = join(path, `..${generation}`);
    await mkdir(data);
    for (const [name, text] of Object.entries(next)) await writeFile(join(data, name), text);
    await symlink(`..${generation}`, join(path, '..next'));
    await rename(join(path, '..next'), join(path, '..data'));
  };
  await swap(files);
  for (const name of Object.keys(files)) await symlink(join('..data', name), join(path, name));
  return { path, swap, remove: () => rm(path, { recursive: true, force: true }) };
}
