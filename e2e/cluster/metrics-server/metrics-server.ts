import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../api/client.ts';
import { findOwnProgram } from '../binaries/own.ts';
import type { Cluster } from '../cluster.ts';
import { freePort } from '../process/ports.ts';

const NAME = 'metrics-server';
const NAMESPACE = 'kube-system';
const API_SERVICE = 'v1beta1.metrics.k8s.io';
/** The shortest that it takes. */
const RESOLUTION = '10s';
/** Must be shorter than that. */
const REQUEST_TIMEOUT = '9s';
/** It measures each node twice before it answers. */
const READY_TIMEOUT_MS = 120_000;

interface ApiService extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** From the cache or built from its module; or why it cannot be had here. */
export async function findMetricsServer(
  report: (line: string) => void,
): Promise<{ readonly command: string } | { readonly missing: string }> {
  return findOwnProgram(NAME, report);
}

/**
 * Measures every node of the cluster, and is registered with its API server. Fake nodes have no kubelet to ask: start
 * the cluster without them. Resolves when the Metrics API answers.
 */
export async function startMetricsServer(
  cluster: Cluster,
  { command }: { readonly command: string },
): Promise<void> {
  const port = await freePort();
  await cluster.api.apply(registration(port));
  const credentials = (file: string) => join(cluster.stateDir, 'credentials', file);
  await cluster.startService({
    name: NAME,
    program: command,
    args: [
      `--kubeconfig=${cluster.kubeconfig}`,
      `--authentication-kubeconfig=${cluster.kubeconfig}`,
      `--authorization-kubeconfig=${cluster.kubeconfig}`,
      `--cert-dir=${mkdtempSync(join(cluster.stateDir, `${NAME}-`))}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--metric-resolution=${RESOLUTION}`,
      `--kubelet-request-timeout=${REQUEST_TIMEOUT}`,
      '--kubelet-preferred-address-types=InternalIP',
      `--kubelet-certificate-authority=${credentials('ca.crt')}`,
      `--kubelet-client-certificate=${credentials('kubelet-client.crt')}`,
      `--kubelet-client-key=${credentials('kubelet-client.key')}`,
    ],
    ready: () => isAvailable(cluster),
    readyTimeoutMs: READY_TIMEOUT_MS,
  });
}

async function isAvailable({ api }: Cluster): Promise<boolean> {
  const { status } = await api.get<ApiService>('APIService', API_SERVICE);
  return status?.conditions?.some((one) => one.type === 'Available' && one.status === 'True') ?? false;
}

/** The API server calls it on loopback: a Service without pods that is another name for that. */
function registration(port: number): readonly KubeObject[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: NAME, namespace: NAMESPACE },
      spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
    } as KubeObject,
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: API_SERVICE },
      spec: {
        group: 'metrics.k8s.io',
        version: 'v1beta1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        // Its certificate is its own.
        insecureSkipTLSVerify: true,
        service: { name: NAME, namespace: NAMESPACE, port },
      },
    } as KubeObject,
  ];
}
