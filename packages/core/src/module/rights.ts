/** A rule of RBAC, and what it is for. */
export interface Right {
  /** One sentence or a note: the chart has it as a comment. */
  readonly why: string;
  readonly group: string;
  readonly resources: readonly string[];
  /** The only object that it is about. */
  readonly name?: string;
  readonly verbs: readonly string[];
}

/**
 * Where a right has to hold: everywhere; where workloads are (everywhere, or in each of scope.namespaces); there, as
 * long as the ledger is inside the webhook; in the installation's own namespace.
 */
export const rightReaches = ['cluster', 'workloads', 'embedded', 'namespace'] as const;

export type RightReach = (typeof rightReaches)[number];

export type ServiceRights = Readonly<Partial<Record<RightReach, readonly Right[]>>>;

/** As a Role and a ClusterRole have it. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export const ruleOf = ({ group, resources, name, verbs }: Right): PolicyRule => ({
  apiGroups: [group],
  resources,
  ...(name !== undefined && { resourceNames: [name] }),
  verbs,
});
