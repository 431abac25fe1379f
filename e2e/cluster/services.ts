import type { Cluster } from './cluster.ts';

export interface ServicesPlan {
  readonly webhooks: number;
  readonly controllers: number;
  /** redis:// of a real one, memory:// for the embedded one, undefined for none. */
  readonly redisUrl: string | undefined;
}

/** Where our two services join a cluster that `up` has started. Returns when they are ready. */
export function startServices(_cluster: Cluster, { webhooks, controllers }: ServicesPlan): Promise<void> {
  if (webhooks + controllers === 0) return Promise.resolve();
  return Promise.reject(new Error('--webhooks and --controllers have nothing to start yet'));
}
