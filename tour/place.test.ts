import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Leave } from './interruption.ts';
import { connect } from './place.ts';

const kinds = {
  '': { v1: ['Namespace', 'ServiceAccount', 'ConfigMap'] },
  'scheduling.k8s.io': { v1: ['PriorityClass'] },
  'rbac.authorization.k8s.io': { v1: ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'] },
  'coordination.k8s.io': { v1: ['Lease'] },
  'admissionregistration.k8s.io': { v1: ['MutatingWebhookConfiguration'] },
};

/** What the API server serves, each kind under its own name. */
const discovery = Object.entries(kinds).map(([name, { v1 }]) => ({
  metadata: { name },
  versions: [
    {
      version: 'v1',
      resources: v1.map((kind) => ({ resource: kind, scope: 'Cluster', responseKind: { kind } })),
    },
  ],
}));

describe('the tour on a cluster that is somebody else’s', () => {
  let temporary: string;
  let server: Server;
  let kubeconfig: string;
  let objects: Map<string, Record<string, string>>;
  let changes: string[];
  let leave: Leave;

  beforeEach(async () => {
    objects = new Map();
    changes = [];
    leave = new Leave();
    server = createServer(({ method, url = '' }, response) => {
      const object = url.split('/').slice(-2).join(' ');
      if (method !== 'GET') changes.push(`${method} ${object}`);
      const labels = objects.get(object);
      if (url.startsWith('/api') && url.split('/').length === 2) {
        const items = discovery.filter(({ metadata }) => (metadata.name === '') === (url === '/api'));
        response.end(JSON.stringify({ items }));
      } else {
        response.writeHead(labels ? 200 : 404).end(JSON.stringify({ metadata: { labels } }));
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address?.port;
    temporary = mkdtempSync(join(tmpdir(), 'place-test-'));
    kubeconfig = join(temporary, 'kubeconfig');
    const named = { name: 'it', context: { cluster: 'it', user: 'it' } };
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        'current-context': 'it',
        contexts: [named],
        clusters: [{ name: 'it', cluster: { server: `http://127.0.0.1:${port}` } }],
        users: [{ name: 'it', user: { token: 'any' } }],
      }),
    );
  });

  afterEach(async () => {
    await leave.undo();
    server.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const byHelm = { 'app.kubernetes.io/managed-by': 'Helm', 'app.kubernetes.io/name': 'spotalis' };

  it.each([
    { object: 'Namespace shop', labels: {} },
    { object: 'Namespace shop', labels: { 'spotalis.io/enabled': 'true' } },
    { object: 'Namespace spotalis-system', labels: {} },
    { object: 'PriorityClass spotalis-placeholder', labels: byHelm },
    { object: 'ClusterRole spotalis-webhook', labels: byHelm },
    { object: 'ClusterRoleBinding spotalis-controller', labels: byHelm },
    { object: 'MutatingWebhookConfiguration spotalis', labels: byHelm },
  ])('leaves it as it is when it has a $object of its own, with $labels', async ({ object, labels }) => {
    objects.set(object, labels);
    const refused = connect(kubeconfig, leave);
    await expect(refused).rejects.toThrow(`the cluster has a ${object} that was not made here`);
    await leave.undo();
    expect(changes).toEqual([]);
  });

  it('takes over what a tour that was killed has left, and takes it away at the end', async () => {
    const made = ['Namespace spotalis-system', 'ClusterRole spotalis-webhook', 'Namespace shop'];
    for (const each of made) {
      const by = each === 'Namespace shop' ? 'spotalis-tour' : 'spotalis-checkout';
      objects.set(each, { 'app.kubernetes.io/managed-by': by });
    }
    await connect(kubeconfig, leave);
    expect(changes).toEqual([]);
    await leave.undo();
    expect(changes).toEqual(expect.arrayContaining(made.map((each) => `DELETE ${each}`)));
  });
});
