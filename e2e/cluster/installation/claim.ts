import type { ApiClient, KubeObject } from '../api/client.ts';

const managedBy = 'app.kubernetes.io/managed-by';

/** On what `install` makes for the whole cluster: a Helm release has other values there. */
export const ours: Readonly<Record<string, string>> = { [managedBy]: 'spotalis-checkout' };

/** Thrown before anything was changed. Trying again helps once the object has gone. */
class ClaimedError extends Error {
  readonly code = 'CLAIMED';
}

/**
 * Refuses if one of these objects is there and its `managed-by` is not the manifest's: it would be overwritten, and
 * taken away at the end. What an earlier run left behind may be taken over. Objects in a namespace go by the namespace.
 */
export async function claim(api: ApiClient, manifests: readonly KubeObject[]): Promise<void> {
  for (const { kind = '', metadata: { name = '', namespace, labels = {} } = {} } of manifests) {
    if (namespace !== undefined) continue;
    const found = await api.find(kind, name);
    const owner = labels[managedBy];
    if (!found || (owner !== undefined && found.metadata?.labels?.[managedBy] === owner)) continue;
    throw new ClaimedError(
      `the cluster has a ${kind} ${name} that was not made here: it would be overwritten, and deleted at the end. ` +
        'Nothing was changed. Use another cluster, or uninstall what it belongs to first.',
    );
  }
}
