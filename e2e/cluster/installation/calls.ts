import { appendFileSync } from 'node:fs';
import type { AuditEvent } from '../api/audit.ts';
import { clusterRules, installationNamespace, namespaceRules, SERVICES } from './manifests.ts';

/** Where clusters that end leave what they saw, one grant a line; see scripts/test.mjs. Nowhere without it. */
const FILE = process.env['SPOTALIS_CALLS_FILE'];

const ours = `system:serviceaccount:${installationNamespace}:spotalis-`;

interface CallLog {
  read(matches: (event: AuditEvent) => boolean, mentioning: string): readonly AuditEvent[];
}

export interface Calls {
  /** Grants, as `grants` writes them, by which a call was let through. */
  readonly used: ReadonlySet<string>;
  /** Calls that were never let through. */
  readonly refused: ReadonlySet<string>;
}

/** What our services asked of the API server, and by which rule of the charts they might. */
export function callsIn(log: CallLog): Calls {
  const used = new Set<string>();
  const allowed = new Set<string>();
  const refused = new Set<string>();
  for (const event of log.read(({ user }) => user.username.startsWith(ours), ours)) {
    const call = callOf(event);
    const decision = event.annotations?.['authorization.k8s.io/decision'];
    if (call === undefined || decision === undefined) continue;
    const place = event.objectRef?.namespace === installationNamespace ? ' in its own namespace' : '';
    (decision === 'allow' ? allowed : refused).add(`${call.service}: ${call.action}${place}`);
    const scope = scopeOf(event);
    if (scope !== undefined) used.add(`${call.service} ${scope}: ${call.action}`);
  }
  // A role takes a moment to be known after it was made, and a test may take one away and give it back.
  return { used, refused: new Set([...refused].filter((call) => !allowed.has(call))) };
}

/** Notes them for the end of the run. Throws if anything was refused. */
export function keepCalls({ used, refused }: Calls): void {
  if (FILE !== undefined) appendFileSync(FILE, [...used].map((line) => `${line}\n`).join(''));
  if (refused.size > 0)
    throw new Error(`rights that charts/*/rbac do not give: ${[...refused].toSorted().join('; ')}`);
}

/** Every verb on every resource that the charts allow: `controller cluster: list deployments.apps`. */
export function grants(): string[] {
  return SERVICES.flatMap((service) =>
    [
      { scope: 'cluster', rules: clusterRules[service] },
      { scope: 'namespace', rules: namespaceRules[service] },
    ].flatMap(({ scope, rules }) =>
      rules.flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) =>
            verbs.map((verb) => `${service} ${scope}: ${verb} ${nameOf(group, resource)}`),
          ),
        ),
      ),
    ),
  );
}

function callOf({ verb, user, objectRef }: AuditEvent): { service: string; action: string } | undefined {
  if (objectRef?.resource === undefined) return undefined;
  const { apiGroup = '', resource, subresource } = objectRef;
  const path = subresource === undefined ? resource : `${resource}/${subresource}`;
  return { service: user.username.slice(ours.length), action: `${verb} ${nameOf(apiGroup, path)}` };
}

/** As the API server gives its reason: `RBAC: allowed by ClusterRoleBinding "spotalis-webhook" of ...`. */
function scopeOf({ annotations }: AuditEvent): 'cluster' | 'namespace' | undefined {
  const reason = annotations?.['authorization.k8s.io/reason'] ?? '';
  const [, kind] = /allowed by (ClusterRoleBinding|RoleBinding) "spotalis-/.exec(reason) ?? [];
  if (kind === undefined) return undefined;
  return kind === 'RoleBinding' ? 'namespace' : 'cluster';
}

const nameOf = (group: string, resource: string): string =>
  group === '' ? resource : `${resource}.${group}`;
