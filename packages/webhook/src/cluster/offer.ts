import { setTimeout as delay } from 'node:timers/promises';
import {
  classifyNode,
  type NodeLabels,
  type NodePoolView,
  offersOnDemand,
  onDemandSelectors,
} from '@spotalis/core';
import { ApiError, type ApiClient, asError, type RawObject, resource } from '@spotalis/kube';
import type { Component, Logger, StartContext } from '@spotalis/runtime';

const nodes = resource('v1', 'nodes', 'Node');
const nodePools = resource<RawObject & NodePoolView>('karpenter.sh/v1', 'nodepools', 'NodePool');

/** Between looks while nothing was seen. */
const PERIOD_MS = 10_000;
/** While the API server did not answer. */
const HURRY_MS = 500;
const CALL_DEADLINE_MS = 5_000;
/** Nodes that a selector finds are on-demand, except some that carry the labels of both types. */
const PAGE = 50;

export interface OnDemandOfferOptions {
  readonly client: ApiClient;
  readonly nodeLabels: NodeLabels;
  /** True: take it to be there, and do not look. */
  readonly assumed: boolean;
  /** Called when the first look finds nothing. */
  readonly missing: (labels: readonly string[]) => void;
  readonly logger: Logger;
  readonly periodMs?: number;
}

/**
 * Whether a node or a NodePool carries the label that on-demand pods are sent to. With labels of another provider none
 * does, and every steered pod would wait for ever. Once seen, the answer stays: a pool may be empty now and then.
 */
export class OnDemandOffer implements Component {
  readonly name = 'on-demand';
  readonly #options: OnDemandOfferOptions;
  readonly #stopping = new AbortController();
  #seen: boolean;
  #looking: Promise<void> | undefined;
  #trouble = '';

  constructor(options: OnDemandOfferOptions) {
    this.#options = options;
    this.#seen = options.assumed;
  }

  get seen(): boolean {
    return this.#seen;
  }

  /** Resolves with the first answer. */
  async start({ signal }: StartContext): Promise<void> {
    while (!this.#seen && !signal.aborted && (await this.#look()) === 'unknown') await this.#pause(HURRY_MS);
    if (this.#seen || signal.aborted) return;
    const selectors = onDemandSelectors(this.#options.nodeLabels);
    this.#options.logger.warn('no node or NodePool offers on-demand; no pod is steered', {
      labels: selectors,
    });
    this.#options.missing(selectors);
    this.#looking = this.#lookUntilSeen();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#looking;
  }

  async #lookUntilSeen(): Promise<void> {
    const { periodMs = PERIOD_MS, logger } = this.#options;
    while (!this.#seen && !this.#stopping.signal.aborted) {
      await this.#pause(periodMs);
      await this.#look();
    }
    if (this.#seen) logger.info('on-demand capacity was seen; pods are steered from now on');
  }

  async #look(): Promise<'known' | 'unknown'> {
    try {
      this.#seen = (await this.#hasNode()) || (await this.#hasNodePool());
      this.#trouble = '';
      return 'known';
    } catch (thrown) {
      const error = asError(thrown);
      this.#warnOnce(error);
      // Without the right to look, trust the configuration.
      this.#seen = isRefused(error);
      return this.#seen ? 'known' : 'unknown';
    }
  }

  async #hasNode(): Promise<boolean> {
    const { client, nodeLabels } = this.#options;
    for (const labelSelector of onDemandSelectors(nodeLabels)) {
      const { items } = await client.list(
        nodes,
        { labelSelector, limit: PAGE, view: 'metadata' },
        this.#call(),
      );
      if (items.some(({ metadata }) => classifyNode(metadata.labels ?? {}, nodeLabels) === 'on-demand'))
        return true;
    }
    return false;
  }

  /** Where Karpenter is installed and we may read it. */
  async #hasNodePool(): Promise<boolean> {
    const { client, nodeLabels } = this.#options;
    try {
      const { items } = await client.list(nodePools, {}, this.#call());
      return items.some((pool) => offersOnDemand(pool, nodeLabels));
    } catch (error) {
      if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return false;
      throw error;
    }
  }

  #call() {
    return { once: true, deadlineMs: CALL_DEADLINE_MS, signal: this.#stopping.signal } as const;
  }

  /** Once per problem, however long it lasts. */
  #warnOnce(error: Error): void {
    if (error.message !== this.#trouble) {
      this.#options.logger.warn('cannot look for on-demand capacity; trying again', { error });
    }
    this.#trouble = error.message;
  }

  async #pause(ms: number): Promise<void> {
    try {
      await delay(ms, undefined, { signal: this.#stopping.signal });
    } catch {
      // Stopped: the loops see it.
    }
  }
}

const isRefused = (error: Error): boolean => error instanceof ApiError && error.status === 403;
