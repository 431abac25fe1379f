/** Where the API server keeps objects of one kind. */
export interface Resource {
  /** `/api/v1` or `/apis/apps/v1`. */
  readonly root: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

interface DiscoveredKind {
  readonly resource: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly responseKind?: { readonly kind: string };
}

interface DiscoveredGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly { readonly version: string; readonly resources?: readonly DiscoveredKind[] }[];
}

export interface DiscoveryDocument {
  readonly items: readonly DiscoveredGroup[];
}

/** Asks for everything that is served, in one document. */
export const DISCOVERY_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Every kind by `Kind` (the first group that has it; core comes first) and by `group/version/Kind`. */
export function indexResources(documents: readonly DiscoveryDocument[]): Map<string, Resource> {
  const index = new Map<string, Resource>();
  for (const group of documents.flatMap(({ items }) => items)) {
    // The preferred version comes first.
    for (const { version, resources = [] } of group.versions) {
      const groupVersion = group.metadata.name ? `${group.metadata.name}/${version}` : version;
      const root = group.metadata.name ? `/apis/${groupVersion}` : `/api/${version}`;
      for (const { resource: plural, scope, responseKind } of resources) {
        if (responseKind === undefined) continue;
        const resource = { root, plural, namespaced: scope === 'Namespaced' };
        index.set(`${groupVersion}/${responseKind.kind}`, resource);
        if (!index.has(responseKind.kind)) index.set(responseKind.kind, resource);
      }
    }
  }
  return index;
}

/** The path of an object, of all objects in a namespace, or of all objects. */
export function pathOf({ root, plural, namespaced }: Resource, namespace?: string, name?: string): string {
  const scope = namespaced && namespace !== undefined ? `/namespaces/${namespace}` : '';
  return `${root}${scope}/${plural}${name === undefined ? '' : `/${name}`}`;
}
