import {
  type CapacityType,
  classifyNode,
  type Labels,
  managed,
  type PolicyDefaults,
  readNodeLabels,
  type Scope,
} from '@spotalis/core';
import type { Credentials } from '@spotalis/kube';
import { type Configuration, ConfigurationError } from '@spotalis/runtime';
import type { Managed } from './observe/cluster.ts';

/** The one rule of what is ours, with the configured scope. */
export function managedIn(scope: Scope): Managed {
  return (namespace, workload) =>
    managed(
      {
        namespace: workload.metadata.namespace ?? '',
        namespaceLabels: namespace?.labels ?? {},
        workloadLabels: workload.labels,
      },
      scope,
    ).managed;
}

/** A node's type by its labels; undefined for one that no configured label knows. */
export function classifierOf(
  texts: Configuration['nodeLabels'],
): (labels: Labels) => CapacityType | undefined {
  const reading = readNodeLabels(texts);
  if (!reading.ok) throw new ConfigurationError(reading.problems);
  return (labels) => {
    const type = classifyNode(labels, reading.labels);
    return type === 'unknown' ? undefined : type;
  };
}

/** The configuration holds numbers; a policy is read from texts, as annotations are. */
export function policyDefaultsOf({ spotPercentage, minOnDemand }: Configuration['defaults']): PolicyDefaults {
  return {
    ...(spotPercentage === undefined ? {} : { spotPercentage: String(spotPercentage) }),
    ...(minOnDemand === undefined ? {} : { minOnDemand: String(minOnDemand) }),
  };
}

export function leaseNamespaceOf(
  configured: string | undefined,
  credentials: Pick<Credentials, 'namespace'>,
): string {
  const namespace = configured ?? credentials.namespace;
  if (namespace !== undefined && namespace !== '') return namespace;
  throw new ConfigurationError([
    {
      key: 'controller.leaderElection.namespace',
      message:
        'is not set, and the kubeconfig names no namespace either; set it, for example spotalis-system',
    },
  ]);
}
