import { cpSync, rmSync } from 'node:fs';
import type { ComponentName } from './commands.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';

/** All that keeps anything of the store in its memory, so that it ends before the store does. */
const readers: readonly ComponentName[] = [
  'kwok',
  'kube-scheduler',
  'kube-controller-manager',
  'kube-apiserver',
];

/** A copy of what etcd holds. */
export class EtcdBackup {
  readonly #plane: ControlPlane;

  /** etcd is away while it is copied. */
  static async of(plane: ControlPlane): Promise<EtcdBackup> {
    const { etcd } = plane.components;
    await etcd.kill();
    cpSync(plane.etcdDir, copyOf(plane), { recursive: true });
    await etcd.start();
    return new EtcdBackup(plane);
  }

  private constructor(plane: ControlPlane) {
    this.#plane = plane;
  }

  /** As after a restore without a bump of the revision: what came later is gone, and its versions are given again. */
  async restore(): Promise<void> {
    const { components, etcdDir } = this.#plane;
    for (const name of readers) await components[name].kill();
    await components.etcd.kill();
    rmSync(etcdDir, { recursive: true });
    cpSync(copyOf(this.#plane), etcdDir, { recursive: true });
    await startControlPlane(this.#plane);
  }
}

const copyOf = ({ etcdDir }: ControlPlane): string => `${etcdDir}-backup`;
