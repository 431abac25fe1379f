import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir } from '../cache.ts';
import { announce } from '../process/announce.ts';
import { prepareToolbox, type Toolbox } from '../process/toolbox.ts';

/** Where buildah keeps its images, in the cache; it pulls nothing from anywhere. */
export class ImageStore {
  readonly dir: string;
  readonly #toolbox: Toolbox;

  constructor(dir: string, toolbox: Toolbox) {
    this.dir = dir;
    this.#toolbox = toolbox;
    mkdirSync(dir, { recursive: true });
    writeFileSync(this.#policy, '{"default":[{"type":"insecureAcceptAnything"}]}');
    writeFileSync(this.#registries, 'unqualified-search-registries = []\n');
  }

  buildah(command: string, ...args: readonly string[]): Promise<string> {
    const storage = [
      '--root',
      join(this.dir, 'storage'),
      '--runroot',
      join(this.dir, 'run'),
      '--storage-driver',
      'vfs',
    ];
    const trust = SIGNED.has(command) ? ['--signature-policy', this.#policy] : [];
    return this.#toolbox.run('buildah', [...storage, command, ...trust, ...args], {
      CONTAINERS_REGISTRIES_CONF: this.#registries,
    });
  }

  has(image: string): Promise<boolean> {
    return this.buildah('inspect', '--type', 'image', image).then(
      () => true,
      () => false,
    );
  }

  /** An image that is this directory and nothing else. */
  async fromDirectory(dir: string, image: string, config: readonly string[] = []): Promise<void> {
    const container = await this.buildah('from', 'scratch');
    try {
      await this.buildah('copy', '--quiet', container, dir, '/');
      if (config.length > 0) await this.buildah('config', ...config, container);
      await this.buildah('commit', '--quiet', container, image);
    } finally {
      await this.buildah('rm', container);
    }
  }

  get #policy(): string {
    return join(this.dir, 'policy.json');
  }

  get #registries(): string {
    return join(this.dir, 'registries.conf');
  }
}

/** Commands that ask for a policy of signatures, whose file is usually /etc/containers/policy.json. */
const SIGNED = new Set(['build', 'commit', 'from', 'push']);

export async function openImageStore(): Promise<ImageStore> {
  return new ImageStore(join(cacheDir(), 'images'), await prepareToolbox(announce));
}
