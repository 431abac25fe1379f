import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { FakeApi } from '../src/testing/fake-api.ts';
import { openShop, podOf, reviewOf, type Shop } from '../src/testing/shop.ts';

/** More than is ever admitted, so that no decision has to look for a place that is gone. */
const REPLICAS = 10_000_000;

/** A review as a real API server sends it, for the size and the parts that are only parsed. */
const recorded: { readonly request: { readonly object: { readonly spec: object } } } = JSON.parse(
  readFileSync(new URL('../src/review/fixtures/replicaset-pod.json', import.meta.url), 'utf8'),
);

/** An API server with some Deployments, and endless reviews of their pods. */
export class BenchApi {
  readonly #api = new FakeApi();
  readonly #count: number;
  #shops: readonly Shop[] = [];
  #generation = 0;
  bodyBytes = 0;

  constructor(replicaSets: number) {
    this.#count = replicaSets;
  }

  start(): Promise<string> {
    return this.#api.start();
  }

  stop(): Promise<void> {
    return this.#api.stop();
  }

  /**
   * New Deployments in place of the former ones: nobody observes these pods, and a decision whose pod was not seen for
   * 30 s is looked for in a LIST, which is not what is measured here.
   */
  reviews(): () => Buffer {
    this.#generation += 1;
    for (const { deployment, replicaSet } of this.#shops) {
      this.#api.remove(replicaSet);
      this.#api.remove(deployment);
    }
    this.#shops = Array.from({ length: this.#count }, (_, index): Shop => {
      const name = `web-${this.#generation}-${index}`;
      return openShop(this.#api, { name, replicas: REPLICAS });
    });
    const pods = this.#shops.map((shop) => podOf(shop, { spec: recorded.request.object.spec }));
    let next = 0;
    return () => {
      const review = reviewOf(randomUUID(), pods[next++ % pods.length]);
      const body = Buffer.from(
        JSON.stringify({ ...review, request: { ...recorded.request, ...review.request } }),
      );
      this.bodyBytes = body.length;
      return body;
    };
  }
}
