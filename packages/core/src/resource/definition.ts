import type { Fields, ObjectField, PathOf, ValueOf } from './field.ts';

export const apiGroup = 'spotalis.io';
export const versionName = 'v1alpha1';
export const apiVersion = `${apiGroup}/${versionName}`;

/** A column of `kubectl get`: a field, or the status of a condition. Age comes last by itself. */
export type Column<P extends string = string> = {
  readonly name: string;
  /** Only with `-o wide`. */
  readonly wide?: true;
} & ({ readonly path: P } | { readonly condition: string });

/** A custom resource: what its CRD, its types, its parser, its page and its test cases come from. */
export interface ResourceDefinition {
  readonly kind: string;
  /** In lower case, as in the path of the API. */
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
  readonly description: string;
  readonly columns: readonly Column[];
  /** Without fields where the resource only reports. */
  readonly spec: ObjectField;
  readonly status: ObjectField;
}

type ColumnPath<D extends ResourceDefinition> =
  | `spec.${PathOf<D['spec']['fields']>}`
  | `status.${PathOf<D['status']['fields']>}`;

export function defineResource<const D extends ResourceDefinition>(
  definition: D & { readonly columns: readonly Column<ColumnPath<D>>[] },
): D {
  return definition;
}

export type SpecOf<D extends ResourceDefinition> = ValueOf<D['spec']>;
export type StatusOf<D extends ResourceDefinition> = ValueOf<D['status']>;

/** Without a required field an absent `spec` is an empty one. */
export const needsSpec = ({ spec }: ResourceDefinition): boolean => hasRequired(spec.fields);

const hasRequired = (fields: Fields): boolean => Object.values(fields).some(({ required }) => required);
