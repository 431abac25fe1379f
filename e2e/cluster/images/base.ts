import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { unpackDebianPackages } from '../process/debian.ts';
import { pinnedNode, repository } from './repository.ts';
import type { ImageStore } from './store.ts';

/** What the Dockerfile runs while it gathers Node and its libraries; the official image has it, too. */
const BASE_PACKAGES = ['bash', 'coreutils', 'dash', 'findutils', 'grep', 'libc-bin', 'libstdc++6'];

export const dockerfile = join(repository, 'docker', 'Dockerfile');

/** The name of the image that the Dockerfile starts from. */
export function baseName(text: string): string {
  const version = /^ARG NODE_VERSION=(\S+)$/m.exec(text)?.[1];
  const suffix = /^FROM node:\$\{NODE_VERSION\}(\S*) AS base$/m.exec(text)?.[1];
  if (version === undefined || suffix === undefined)
    throw new Error(
      `${dockerfile} names no base: ARG NODE_VERSION=... and FROM node:... AS base are expected`,
    );
  return `docker.io/library/node:${version}${suffix}`;
}

/**
 * Under the official image's name, so that the Dockerfile builds as it is where no registry is in reach: a bit
 * of Debian with the pinned Node. Never to be published.
 */
export async function ensureBase(store: ImageStore): Promise<void> {
  const name = baseName(readFileSync(dockerfile, 'utf8'));
  if (await store.has(name)) return;
  await imageOfPackages(store, name, BASE_PACKAGES, (tree) => {
    const bin = join(tree, 'usr/local/bin');
    mkdirSync(bin, { recursive: true });
    cpSync(pinnedNode(), join(bin, 'node'));
  });
}

/** An image of Debian packages with all that they need, and nothing else; `config` as in `buildah config`. */
export async function imageOfPackages(
  store: ImageStore,
  name: string,
  packages: readonly string[],
  finish: (tree: string) => void = () => undefined,
  config: readonly string[] = [],
): Promise<void> {
  const tree = join(store.dir, 'tree');
  const unpacked = await unpackDebianPackages(packages, tree, (dir) => Promise.resolve(finish(dir)), {
    whole: true,
  });
  if (!unpacked.ok) throw new Error(`no image ${name}: ${unpacked.reason}`);
  try {
    await store.fromDirectory(tree, name, config);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}
