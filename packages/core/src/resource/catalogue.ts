import type { ResourceDefinition } from './definition.ts';

/** A custom resource, and the module whose switch decides whether the chart brings its CRD. */
export interface CatalogueEntry {
  readonly module: string;
  readonly definition: ResourceDefinition;
}

/** Every custom resource. The CRDs of the chart and the pages in docs/resources are written from it. */
export const customResources: readonly CatalogueEntry[] = [];
