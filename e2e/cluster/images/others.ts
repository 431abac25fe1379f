import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { archiveOf, type ImageArchive } from './archive.ts';
import { imageOfPackages } from './base.ts';

/** What keeps a pod's namespaces open, and what fake workloads claim to run. */
export const PAUSE_IMAGE = 'registry.k8s.io/pause:3.10';

export function pauseImage(): Promise<ImageArchive> {
  return archiveOf(PAUSE_IMAGE, ['busybox-static'], (store) =>
    imageOfPackages(store, PAUSE_IMAGE, ['busybox-static'], () => undefined, [
      '--entrypoint',
      '["/bin/busybox", "sleep", "2147483647"]',
      '--user',
      '65535:65535',
    ]),
  );
}

/** Debian's Redis under the official image's name, with what that image's entrypoint is used for. */
export function redisImage(image: string): Promise<ImageArchive> {
  const packages = ['redis-server', 'dash', 'coreutils'];
  return archiveOf(image, packages, (store) =>
    imageOfPackages(
      store,
      image,
      packages,
      (tree) => {
        mkdirSync(join(tree, 'data'), { recursive: true, mode: 0o777 });
        mkdirSync(join(tree, 'usr/local/bin'), { recursive: true });
        for (const name of ['redis-check-rdb', 'redis-cli']) {
          const as = name === 'redis-cli' ? name : 'redis-server';
          cpSync(join(tree, 'usr/bin', name), join(tree, 'usr/local/bin', as));
        }
        writeFileSync(join(tree, 'etc/nsswitch.conf'), 'hosts: files dns\n');
      },
      [
        '--entrypoint',
        '[]',
        '--cmd',
        'redis-server',
        '--workingdir',
        '/data',
        '--port',
        '6379',
        '--env',
        'PATH=/usr/local/bin:/usr/bin:/bin',
      ],
    ),
  );
}
