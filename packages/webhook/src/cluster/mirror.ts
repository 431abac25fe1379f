import {
  type KubeObject,
  type RawObject,
  ReflectorGroup,
  type ReflectorGroupOptions,
  Store,
} from '@spotalis/kube';
import { type Component, type StartContext, unlessStopped } from '@spotalis/runtime';

/** The objects of one kind as the watch shows them, each with the fields that are needed. */
export class Mirror<Raw extends RawObject, Kept extends KubeObject> implements Component {
  readonly name: string;
  protected readonly store = new Store<Kept>();
  protected readonly reflector: ReflectorGroup<Raw, Kept>;

  constructor(options: Omit<ReflectorGroupOptions<Raw, Kept>, 'store'>) {
    this.name = options.resource.plural;
    this.reflector = new ReflectorGroup({ ...options, store: this.store });
  }

  get size(): number {
    return this.store.size;
  }

  hasSynced(): boolean {
    return this.reflector.hasSynced();
  }

  async start({ signal }: StartContext): Promise<void> {
    this.reflector.start();
    await unlessStopped(signal, this.reflector.synced);
  }

  async stop(): Promise<void> {
    await this.reflector.stop();
  }
}
