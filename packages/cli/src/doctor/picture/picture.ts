import type { Configuration, LabelSelector } from '@spotalis/core';
import type { ConfigurationProblem } from '@spotalis/units';
import type { Survey } from '../../cluster/survey.ts';

/** The cluster and the installation at one moment: all that the checks go by. */
export interface Picture {
  readonly nowMs: number;
  readonly survey: Survey;
  readonly installation: Installation;
}

export interface Installation {
  /** Where the services are; undefined where nothing shows it. */
  readonly namespace: string | undefined;
  readonly configurations: readonly FoundConfiguration[];
  readonly deployments: readonly ServiceDeployment[];
  /** Null where they may not be read. */
  readonly registrations: readonly Registration[] | null;
  readonly serving: ServingState;
  readonly lease: LeaseState;
  readonly rights: readonly MissingRight[];
}

/** A configuration file, or one in a ConfigMap. */
export interface FoundConfiguration {
  readonly origin: string;
  /** Of the ConfigMap; null for a file. */
  readonly namespace: string | null;
  readonly reading:
    | { readonly ok: true; readonly values: Configuration }
    | { readonly ok: false; readonly problems: readonly ConfigurationProblem[] };
}

export interface ServiceDeployment {
  /** `redis`: the one of the chart. */
  readonly service: 'webhook' | 'controller' | 'redis';
  readonly namespace: string;
  readonly name: string;
  /** The Helm release. */
  readonly instance: string;
  readonly replicas: number;
  readonly readyReplicas: number;
  readonly image: string;
  /** What the label says. */
  readonly version: string;
  readonly serviceAccount: string;
}

/** A MutatingWebhookConfiguration that has a webhook of ours. */
export interface Registration {
  readonly name: string;
  /** PEM; empty where nothing is set. */
  readonly caBundle: string;
  readonly failurePolicy: string;
  readonly timeoutSeconds: number;
  readonly namespaceSelector: LabelSelector;
  /** Null where it is called by a URL, so that nobody can tell who is behind it. */
  readonly service: {
    readonly namespace: string;
    readonly name: string;
    /** Null where it may not be read. */
    readonly readyEndpoints: number | null;
  } | null;
}

/** The certificate that webhooks serve, as far as it is in the cluster. Its key is never kept. */
export type ServingState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'missing'; readonly secret: string }
  | { readonly kind: 'found'; readonly secret: string; readonly cert: string };

export type LeaseState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'missing'; readonly name: string }
  | {
      readonly kind: 'found';
      readonly name: string;
      readonly holder: string;
      readonly renewedAtMs: number;
      readonly durationMs: number;
    };

/** Something that a service does and may not. */
export interface MissingRight {
  /** `namespace/name` of the ServiceAccount. */
  readonly account: string;
  /** As in `patch secrets`. */
  readonly what: string;
  readonly namespace: string | undefined;
}
