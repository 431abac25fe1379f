import { ranks } from '@spotalis/core';
import { type KubeObject, keyOf, type RawObject, resource } from '@spotalis/kube';
import { askerOf, type Decision, type Intent, type Module } from '../kernel/module.ts';
import { Watch } from '../kernel/watch.ts';

interface Wish extends KubeObject {
  readonly pod: string;
}

const wishes = new Watch({
  resource: resource<RawObject & { readonly data?: { readonly evict?: string } }>(
    'v1',
    'configmaps',
    'ConfigMap',
  ),
  prune: ({ metadata, data }): Wish | undefined =>
    data?.evict === undefined ? undefined : { metadata, pod: data.evict },
});

const decided = (trace: string, intents: readonly Intent[] = []): Decision<string, never> => {
  return { trace, effects: [], intents, againAtMs: null };
};

/** A fifth module: a ConfigMap names a pod of its Namespace that is to go. */
export const toys: Module = {
  name: 'toys',
  reasons: { Asked: { means: 'a ConfigMap names the pod', remedy: null } },
  metrics: [],
  events: {},
  watches: [wishes],
  open({ cluster, storeOf }) {
    const store = storeOf(wishes);
    const said: Record<string, string> = {};
    return {
      subjects: () => [...store.values()].map(keyOf),
      follow: (touch) => store.subscribe(({ object }) => touch(keyOf(object))),
      snapshot(subject: string, nowMs: number): Intent | null {
        const { pod: name, metadata } = store.get(subject) ?? {};
        const pod = cluster.pods.get(`${metadata?.namespace}/${name}`);
        const { uid, namespace = '' } = (pod && cluster.homeOf(pod)?.workload.metadata) ?? {};
        if (pod === undefined || uid === undefined || pod.ended) return null;
        const asker = { id: askerOf('toys', subject), module: 'toys', subject: askerOf('toys', subject) };
        const what = { pod: pod.metadata, node: pod.nodeName ?? null, workload: { uid, namespace } };
        return { ...asker, ...what, kind: 'evict', rank: ranks.allocation, sinceMs: nowMs };
      },
      decide: (intent: Intent) => decided('Asked', [intent]),
      settled: (_subject, _decision, _intent, outcome) => ({
        decision: decided(outcome.kind === 'deferred' ? JSON.stringify(outcome.deferral) : outcome.kind),
      }),
      report: (subject, trace: string) => void (said[subject] = trace),
      forget: (subject) => void delete said[subject],
      state: () => ({ toys: said }),
    };
  },
};
