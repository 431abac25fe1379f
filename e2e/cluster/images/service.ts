import { readFileSync } from 'node:fs';
import { bundleOf, bundleServices } from '../installation/bundles.ts';
import type { ServiceName } from '../installation/manifests.ts';
import { archiveOf, type ImageArchive } from './archive.ts';
import { dockerfile, ensureBase } from './base.ts';
import { repository } from './repository.ts';

/** The image of a service, built by the project's own Dockerfile from the bundle as it is now. */
export async function serviceImage(service: ServiceName, image: string): Promise<ImageArchive> {
  await bundleServices();
  const content = [readFileSync(dockerfile), readFileSync(bundleOf(service))];
  return archiveOf(image, content, async (store) => {
    await ensureBase(store);
    await store.buildah(
      'build',
      '--quiet',
      '--layers',
      '--pull=never',
      '--isolation',
      'chroot',
      '--target',
      service,
      '--file',
      dockerfile,
      '--tag',
      image,
      repository,
    );
  });
}
