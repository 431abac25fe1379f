import { type SizedResource, sizedResources } from './evidence/point.ts';

interface TargetReference {
  readonly kind: string;
  readonly name: string;
}

interface ResourceMetric {
  readonly name: string;
  readonly container?: string;
  readonly target?: { readonly type?: string };
}

/** The part of a HorizontalPodAutoscaler (autoscaling/v2) that says what it scales on. */
export interface RawHpa {
  readonly spec: {
    readonly scaleTargetRef: TargetReference;
    readonly metrics?:
      | readonly {
          readonly type: string;
          readonly resource?: ResourceMetric | null;
          readonly containerResource?: ResourceMetric | null;
        }[]
      | null;
  };
}

/** The part of a VerticalPodAutoscaler that says what it writes. */
export interface RawVpa {
  readonly spec: {
    readonly targetRef?: TargetReference | null;
    readonly updatePolicy?: { readonly updateMode?: string } | null;
    readonly resourcePolicy?: {
      readonly containerPolicies?:
        | readonly {
            readonly containerName?: string;
            readonly mode?: string;
            readonly controlledResources?: readonly string[] | null;
          }[]
        | null;
    } | null;
  };
}

const isFor = (reference: TargetReference | null | undefined, { kind, name }: TargetReference): boolean =>
  reference?.kind === kind && reference.name === name;

/** Only utilization is by the request: an average value stays what it is when the request changes. */
const isUtilization = (metric: ResourceMetric | null | undefined): metric is ResourceMetric =>
  metric?.target?.type === 'Utilization';

/** Of a workload's HorizontalPodAutoscalers, in its namespace. One without metrics scales on CPU utilization. */
export function scaledOnBy(hpas: readonly RawHpa[], workload: TargetReference): ReadonlySet<SizedResource> {
  const found = new Set<SizedResource>();
  for (const { spec } of hpas) {
    if (!isFor(spec.scaleTargetRef, workload)) continue;
    if ((spec.metrics ?? []).length === 0) found.add('cpu');
    for (const { resource, containerResource } of spec.metrics ?? []) {
      const metric = [resource, containerResource].find(isUtilization);
      const name = sizedResources.find((each) => each === metric?.name);
      if (name !== undefined) found.add(name);
    }
  }
  return found;
}

/** The resources of a container that a VerticalPodAutoscaler of the workload writes. */
export function writtenByVpa(
  vpas: readonly RawVpa[],
  workload: TargetReference,
  container: string,
): ReadonlySet<SizedResource> {
  const found = new Set<SizedResource>();
  for (const { spec } of vpas) {
    if (!isFor(spec.targetRef, workload) || spec.updatePolicy?.updateMode === 'Off') continue;
    const policies = spec.resourcePolicy?.containerPolicies ?? [];
    const policy =
      policies.find(({ containerName }) => containerName === container) ??
      policies.find(({ containerName }) => containerName === '*');
    if (policy?.mode === 'Off') continue;
    const controlled = policy?.controlledResources ?? sizedResources;
    for (const resource of sizedResources) if (controlled.includes(resource)) found.add(resource);
  }
  return found;
}
