import {
  type Cluster,
  type RedisOptions,
  type RedisServers,
  startCluster,
  startRedis,
} from '@spotalis/cluster';
import { type Installation, type InstallationOptions, install } from '../installation/installation.ts';
import { type Declaration, manifest, optedInNamespace, Workload } from './workload.ts';

export interface StageOptions extends Omit<Partial<InstallationOptions>, 'redis'> {
  readonly redis?: RedisOptions;
  readonly podsPerNode?: number;
  /** Holds the webhooks' answers back at random, since fast handlers see little concurrency. */
  readonly delayAnswersMs?: number;
}

/** A cluster with the product installed: what a scenario is played on. */
export class Stage {
  readonly cluster: Cluster;
  readonly redis: RedisServers;
  readonly installation: Installation;

  constructor(cluster: Cluster, redis: RedisServers, installation: Installation) {
    this.cluster = cluster;
    this.redis = redis;
    this.installation = installation;
  }

  /** Applies the namespace and the workload in one go. */
  async declare(declaration: Declaration): Promise<Workload> {
    await this.cluster.api.apply([optedInNamespace(declaration.namespace), manifest(declaration)]);
    return new Workload(this.cluster.api, declaration);
  }

  /** How often anybody asked to evict a pod, from the API server's own log. */
  evictions(namespace?: string): number {
    return this.cluster.auditLog.read(
      ({ objectRef }) =>
        objectRef?.resource === 'pods' &&
        objectRef.subresource === 'eviction' &&
        (namespace === undefined || objectRef.namespace === namespace),
    ).length;
  }

  /** Admissions answered so far, by any webhook that is alive. */
  admissions(labels: Readonly<Record<string, string>> = {}): Promise<number> {
    return this.installation.admissionMetric('spotalis_admissions_total', labels);
  }

  async close(): Promise<void> {
    await this.cluster.stop();
    await this.installation.balancer.close();
    await this.redis.stop();
  }
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const { redis: redisOptions = {}, podsPerNode = 2_000, delayAnswersMs = 0, ...installation } = options;
  const redis = await startRedis(redisOptions);
  try {
    const cluster = await startCluster({ audit: true, podsPerNode });
    try {
      const installed = await install(cluster, { redis: { url: redis.url }, ...installation });
      installed.balancer.delayAnswers(delayAnswersMs);
      return new Stage(cluster, redis, installed);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  } catch (error) {
    await redis.stop();
    throw error;
  }
}
