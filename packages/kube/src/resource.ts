import type { RawObject } from './object.ts';

/**
 * One REST resource. `T` is the shape in which the caller wants to see its objects; nothing is checked at run
 * time, the JSON is handed through.
 */
export interface Resource<T = RawObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  /** Never present; carries `T`. */
  readonly shape?: T;
}

/** `resource<Pod>('v1', 'pods', 'Pod')`, `resource<Deployment>('apps/v1', 'deployments', 'Deployment')`. */
export function resource<T = RawObject>(apiVersion: string, plural: string, kind: string): Resource<T> {
  const slash = apiVersion.indexOf('/');
  return {
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: slash < 0 ? apiVersion : apiVersion.slice(slash + 1),
    plural,
    kind,
  };
}

export function apiVersionOf(of: Resource<unknown>): string {
  return of.group === '' ? of.version : `${of.group}/${of.version}`;
}

/** Which object, or which collection when there is no name. */
export interface Place {
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export function pathOf(of: Resource<unknown>, place: Place, query: Query = {}): string {
  let path = of.group === '' ? `/api/${of.version}` : `/apis/${of.group}/${of.version}`;
  if (place.namespace !== undefined && place.namespace !== '') {
    path += `/namespaces/${encodeURIComponent(place.namespace)}`;
  }
  path += `/${of.plural}`;
  if (place.name !== undefined) {
    if (place.name === '') {
      // Without this a DELETE of one object with an empty name would be a DELETE of the whole collection.
      throw new TypeError(`empty name for a ${of.kind}: leave it out for the collection, or name the object`);
    }
    path += `/${encodeURIComponent(place.name)}`;
  }
  if (place.subresource !== undefined) {
    path += `/${place.subresource}`;
  }
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) {
      parameters.set(key, String(value));
    }
  }
  const search = parameters.toString();
  return search === '' ? path : `${path}?${search}`;
}
