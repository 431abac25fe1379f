import type { JsonPatchOperation } from '../capacity/patch.ts';
import { patchEntries } from '../capacity/patch.ts';
import { type RequestingContainer, readAmounts, type Resources } from '../cluster/resources.ts';
import { type Size, sizeFields } from '../cluster/size.ts';
import { rightsizingKeys } from '../policy/keys.ts';
import { qosClassOf } from '../resize/quality.ts';
import { readMemory } from './memory.ts';
import type { RecommendationStatus } from './workload-recommendation.ts';

/** Targets older than this are those of another time. */
const MOST_AGE_MS = 7 * 86_400_000;

export interface AdmittedPod {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> | null };
  readonly spec: {
    readonly containers?: readonly AdmittedContainer[] | null;
    readonly initContainers?: readonly AdmittedContainer[] | null;
  };
}

interface AdmittedContainer extends RequestingContainer {
  readonly name: string;
}

export type UnsizedReason = 'NoTarget' | 'NotApplied' | 'TooOld' | 'SameAlready' | 'QualityChanges';

export type AdmittedSize =
  | { readonly kind: 'unsized'; readonly reason: UnsizedReason }
  | {
      readonly kind: 'sized';
      readonly operations: readonly JsonPatchOperation[];
      /** The pod is of a revision that the target was not computed from: nothing was lowered. */
      readonly onlyRaised: boolean;
    };

const unsized = (reason: UnsizedReason): AdmittedSize => ({ kind: 'unsized', reason });

/** What a container gets, where it differs from what it has. */
interface Sized {
  readonly name: string;
  readonly path: string;
  readonly before: Size;
  readonly after: Size;
  readonly written: RequestingContainer['resources'];
}

/** What the stored target makes of a new pod. Total, and without a call: the webhook has the status in memory. */
export function sizeAtAdmission(
  pod: AdmittedPod,
  status: Partial<RecommendationStatus> | null,
  nowMs: number,
): AdmittedSize {
  if (status === null) return unsized('NoTarget');
  if (status.apply !== true) return unsized('NotApplied');
  const evidenceAtMs = Date.parse(status.evidenceAt ?? '');
  if (!(nowMs - evidenceAtMs < MOST_AGE_MS)) return unsized('TooOld');
  const memory = readMemory(status);
  const all = [
    ...pathed('initContainers', pod.spec.initContainers),
    ...pathed('containers', pod.spec.containers),
  ];
  const isKnown = all.every(({ container }) => {
    const known = memory.get(container.name);
    return known === undefined || isSameRequests(sizeOf(container), known.template);
  });
  const sized = all.flatMap(({ container, path }): Sized[] => {
    const target = isSizable(path, container) ? memory.get(container.name)?.target : undefined;
    if (target === undefined) return [];
    const before = sizeOf(container);
    return [
      {
        name: container.name,
        path,
        before,
        after: after(before, target, !isKnown),
        written: container.resources,
      },
    ];
  });
  const sizes = new Map(sized.map(({ name, after: size }) => [name, size]));
  const was = qosClassOf(all.map(({ container }) => sizeOf(container)));
  const becomes = qosClassOf(all.map(({ container }) => sizes.get(container.name) ?? sizeOf(container)));
  if (was !== becomes) return unsized('QualityChanges');
  const operations = sized.flatMap(operationsFor);
  if (operations.length === 0) return unsized('SameAlready');
  return { kind: 'sized', operations: [...operations, ...remembering(pod, sized)], onlyRaised: !isKnown };
}

function pathed(
  list: 'containers' | 'initContainers',
  containers: readonly AdmittedContainer[] | null | undefined,
) {
  return (containers ?? []).map((container, index) => ({ container, path: `/spec/${list}/${index}` }));
}

/** Of init containers only sidecars run on. */
const isSizable = (path: string, { restartPolicy }: AdmittedContainer): boolean =>
  path.startsWith('/spec/containers/') || restartPolicy === 'Always';

/** As the API server defaults it: a limit is the request where there is no other. */
function sizeOf({ resources }: RequestingContainer): Size {
  const limits = readAmounts(resources?.limits);
  return { requests: { ...limits, ...readAmounts(resources?.requests) }, limits };
}

const isSameRequests = (one: Size, other: Size): boolean =>
  ['cpu', 'memory'].every((resource) => one.requests[resource] === other.requests[resource]);

/** Only amounts that are there, and of another revision only upwards. A request stays within its limit. */
function after(before: Size, target: Size, onlyRaise: boolean): Size {
  const moved = (field: 'requests' | 'limits'): Resources =>
    Object.fromEntries(
      Object.entries(before[field]).map(([resource, amount]) => {
        const wanted = target[field][resource] ?? amount;
        return [resource, onlyRaise ? Math.max(amount, wanted) : wanted];
      }),
    );
  const limits = moved('limits');
  const requests = Object.fromEntries(
    Object.entries(moved('requests')).map(([resource, amount]) => [
      resource,
      Math.min(amount, limits[resource] ?? amount),
    ]),
  );
  return { requests, limits };
}

const quantityText = (resource: string, amount: number): string =>
  resource === 'cpu' ? `${amount}m` : String(amount);

function operationsFor({ path, before, after: wanted, written }: Sized): readonly JsonPatchOperation[] {
  const texts = (field: 'requests' | 'limits') => {
    const changed = Object.entries(wanted[field]).filter(
      ([resource, amount]) => before[field][resource] !== amount,
    );
    return Object.fromEntries(
      changed.map(([resource, amount]) => [resource, quantityText(resource, amount)]),
    );
  };
  return sizeFields.flatMap((field) => {
    const existing = written?.[field];
    const values =
      existing && Object.fromEntries(Object.entries(existing).map(([key, value]) => [key, String(value)]));
    return patchEntries(`${path}/resources/${field}`, values, texts(field));
  });
}

/** What the template asked for, for people and to tell later. */
function remembering(pod: AdmittedPod, sized: readonly Sized[]): readonly JsonPatchOperation[] {
  const original = Object.fromEntries(sized.map(({ name, written }) => [name, written ?? {}]));
  const annotations = pod.metadata?.annotations;
  return patchEntries('/metadata/annotations', annotations, {
    [rightsizingKeys.templateResources]: JSON.stringify(original),
  });
}
