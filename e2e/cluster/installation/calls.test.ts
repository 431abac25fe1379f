import { describe, expect, it } from '@jest/globals';
import type { AuditEvent } from '../api/audit.ts';
import { callsIn, grants, keepCalls } from './calls.ts';

interface Call {
  readonly verb: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly decision?: 'allow' | 'forbid';
  readonly binding?: string;
  readonly user?: string;
}

function event(call: Call): AuditEvent {
  const {
    verb,
    resource,
    namespace,
    decision = 'allow',
    binding = 'ClusterRoleBinding "spotalis-webhook"',
  } = call;
  const [path = '', apiGroup = ''] = resource.split(':').toReversed();
  const [plural = '', subresource] = path.split('/');
  return {
    auditID: '1',
    verb,
    requestURI: '',
    requestReceivedTimestamp: '',
    user: { username: call.user ?? 'system:serviceaccount:spotalis-system:spotalis-webhook' },
    objectRef: {
      resource: plural,
      ...(apiGroup && { apiGroup }),
      ...(subresource && { subresource }),
      ...(namespace && { namespace }),
    },
    annotations: {
      'authorization.k8s.io/decision': decision,
      'authorization.k8s.io/reason': decision === 'allow' ? `RBAC: allowed by ${binding} of ...` : '',
    },
  };
}

const calls = (...all: Call[]) => callsIn({ read: (matches) => all.map(event).filter(matches) });

describe('what our services asked of the API server', () => {
  it('is put down to the rule that let it through', () => {
    const { used, refused } = calls(
      { verb: 'list', resource: 'apps:deployments' },
      { verb: 'list', resource: 'apps:deployments', namespace: 'shop' },
      { verb: 'create', resource: 'pods/eviction', binding: 'ClusterRoleBinding "spotalis-controller.here"' },
      { verb: 'get', resource: 'secrets', binding: 'RoleBinding "spotalis-webhook/spotalis-system"' },
    );
    expect([...used]).toEqual([
      'webhook cluster: list deployments.apps',
      'webhook cluster: create pods/eviction',
      'webhook namespace: get secrets',
    ]);
    expect(refused.size).toBe(0);
  });

  it('leaves out others, and what anybody may ask', () => {
    const { used } = calls(
      { verb: 'list', resource: 'pods', user: 'system:serviceaccount:shop:spotalis-webhook' },
      {
        verb: 'create',
        resource: 'selfsubjectaccessreviews',
        binding: 'ClusterRoleBinding "system:basic-user"',
      },
    );
    expect(used.size).toBe(0);
  });

  it('fails by what was refused and never allowed', () => {
    const told = calls(
      { verb: 'delete', resource: 'pods', decision: 'forbid' },
      { verb: 'delete', resource: 'pods', namespace: 'spotalis-system' },
      { verb: 'get', resource: 'nodes', decision: 'forbid' },
      { verb: 'get', resource: 'nodes' },
    );
    expect([...told.refused]).toEqual(['webhook: delete pods']);
    expect(() => keepCalls(told)).toThrow('rights that charts/*/rbac do not give: webhook: delete pods');
  });

  it('can be compared with what the charts grant', () => {
    expect(grants()).toEqual(
      expect.arrayContaining([
        'webhook cluster: list deployments.apps',
        'webhook namespace: get secrets',
        'controller cluster: create pods/eviction',
        'controller namespace: patch leases.coordination.k8s.io',
      ]),
    );
    expect(new Set(grants()).size).toBe(grants().length);
  });
});
