import { createHash } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { announce } from '../process/announce.ts';
import { withLock } from '../process/lock.ts';
import { type ImageStore, openImageStore } from './store.ts';

/** A file that holds an image, as `ctr images import` takes it. */
export interface ImageArchive {
  readonly file: string;
  /** With its tag: what a pod says. */
  readonly image: string;
  /** As a registry would hold it: compressed. */
  readonly megabytes: number;
}

const BUILD_TIMEOUT_MS = 15 * 60_000;

/**
 * From the cache if one was made of the same `content` under the same name, else made by `build`, which leaves
 * an image of that name in the store. What is older than the newest few goes.
 */
export async function archiveOf(
  image: string,
  content: readonly (string | Buffer)[],
  build: (store: ImageStore) => Promise<void>,
): Promise<ImageArchive> {
  const store = await openImageStore();
  const hash = createHash('sha256');
  for (const part of [image, ...content]) hash.update(part).update('\0');
  const stem = image.replaceAll(/[/:]/g, '_');
  const file = join(store.dir, `${stem}-${hash.digest('hex').slice(0, 16)}.tar`);
  const make = async () => {
    if (existsSync(file)) return;
    announce(`building the image ${image}`);
    await build(store);
    const unfinished = `${file}.${process.pid}`;
    await store.buildah('push', '--quiet', image, `oci-archive:${unfinished}:${image}`);
    renameSync(unfinished, file);
    // Only the base stays in the store: each image and each step of its making is a copy of everything in it.
    await store.buildah('rmi', '--force', image);
    await store.buildah('rmi', '--prune', '--force');
    forgetOld(store.dir, stem);
  };
  const waiting = (pid: number) => announce(`${image}: waiting for process ${pid}, which is building images`);
  await withLock(join(store.dir, 'lock'), make, waiting, BUILD_TIMEOUT_MS);
  return { file, image, megabytes: Math.round(statSync(file).size / 1e5) / 10 };
}

const KEPT = 2;

function forgetOld(dir: string, stem: string): void {
  const archives = readdirSync(dir)
    .filter((name) => name.startsWith(`${stem}-`) && name.endsWith('.tar'))
    .map((name) => ({ file: join(dir, name), atMs: statSync(join(dir, name)).mtimeMs }))
    .toSorted((one, other) => other.atMs - one.atMs);
  for (const { file } of archives.slice(KEPT)) rmSync(file, { force: true });
}
