import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import type { ApiClient, KubeObject } from '../api/client.ts';
import type { Credentials } from '../control-plane/credentials.ts';
import type { ImageArchive } from '../images/archive.ts';
import { pauseImage } from '../images/others.ts';
import { Component } from '../process/component.ts';
import { run } from '../process/run.ts';
import type { Supervisor } from '../process/supervisor.ts';
import { waitFor } from '../process/wait.ts';
import {
  CONTAINERD_SOCKET,
  KUBELET_HEALTH_PORT,
  PROXY_HEALTH_PORT,
  REAL_TAINT,
  writeNodeFiles,
} from './configuration.ts';
import { type ServiceNames, serveNames } from './names.ts';
import type { Site } from './site.ts';

const REAL_NODE_NAME = 'real-1';

/** Annotations of a namespace whose pods are to run in real containers. */
export const realNodeOnly = {
  'scheduler.alpha.kubernetes.io/node-selector': `kubernetes.io/hostname=${REAL_NODE_NAME}`,
  'scheduler.alpha.kubernetes.io/defaultTolerations': JSON.stringify([{ ...REAL_TAINT, operator: 'Exists' }]),
};

interface NodeObject extends KubeObject {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** A kubelet with real containers, beside the fake nodes of the same cluster. */
export class RealNode {
  readonly name = REAL_NODE_NAME;
  readonly components: readonly Component[];
  readonly #site: Site;
  readonly #names: ServiceNames;

  constructor(site: Site, components: readonly Component[], names: ServiceNames) {
    this.#site = site;
    this.components = components;
    this.#names = names;
  }

  get network(): Site['network'] {
    return this.#site.network;
  }

  async import({ file }: ImageArchive): Promise<void> {
    await this.#ctr('images', 'import', file);
  }

  /** A second name for an image that is here: what an upgrade goes to. */
  async tag(image: string, as: string): Promise<void> {
    await this.#ctr('images', 'tag', '--force', image, as);
  }

  /** What the memory of a container's processes amounts to, without the page cache. */
  residentMegabytes(podUid: string, containerId: string): number {
    const stat = this.#readOf(podUid, containerId, 'memory.stat', /^(?:total_rss|anon) \d+$/m);
    return Math.round(Number(/^(?:total_rss|anon) (\d+)$/m.exec(stat)?.[1]) / 1e5) / 10;
  }

  /** What the kernel lets a container use of the CPU, in millicores. */
  cpuLimit(podUid: string, containerId: string): number {
    const v1 = this.#find(podUid, containerId, 'cpu.cfs_quota_us', /^\d/);
    const quota = v1 ?? this.#readOf(podUid, containerId, 'cpu.max', /^\d/);
    // Microseconds of each 100 ms.
    return Number.parseInt(quota, 10) / 100;
  }

  /** Signals every process of a container, past the kubelet: as the kernel does when memory is short. */
  kill(podUid: string, containerId: string, signal: NodeJS.Signals): void {
    const pids = this.#readOf(podUid, containerId, 'cgroup.procs', /\d/).trim().split('\n');
    for (const pid of pids) process.kill(Number(pid), signal);
  }

  /** A file of the container's cgroup, from the hierarchy in which it says something of that kind. */
  #readOf(podUid: string, containerId: string, file: string, saying: RegExp): string {
    const text = this.#find(podUid, containerId, file, saying);
    if (text === undefined) throw new Error(`no ${file} in a cgroup of the container ${containerId}`);
    return text;
  }

  #find(podUid: string, containerId: string, file: string, saying: RegExp): string | undefined {
    const id = containerId.replace('containerd://', '');
    for (const cgroup of this.#site.cgroups) {
      for (const quality of ['', 'burstable', 'besteffort']) {
        const text = readIfThere(join(cgroup, 'kubepods', quality, `pod${podUid}`, id, file));
        if (saying.test(text)) return text;
      }
    }
    return undefined;
  }

  /** All that the pods whose names start so have written, in every container of theirs that is known here. */
  logs(namespace: string, podPrefix: string): string {
    const dir = join(this.#site.dir, 'log', 'pods');
    const files = readdirSync(dir, { recursive: true, encoding: 'utf8' });
    return files
      .filter((file) => file.startsWith(`${namespace}_${podPrefix}`) && file.endsWith('.log'))
      .map((file) => readIfThere(join(dir, file)))
      .join('');
  }

  async stop(): Promise<void> {
    await this.#names.close();
  }

  async #ctr(...args: readonly string[]): Promise<void> {
    const enter = ['-t', String(this.#site.room.pid), '-m', '-n', '--', 'ctr', '--namespace', 'k8s.io'];
    const done = await run('nsenter', [...enter, ...args]);
    if (!done.ok) throw new Error(`ctr ${args.join(' ')} failed: ${done.stderr.trim()}`);
  }
}

export interface RealNodeParts {
  readonly site: Site;
  readonly supervisor: Supervisor;
  readonly credentials: Credentials;
  readonly api: ApiClient;
  readonly logDir: string;
}

/** Resolves when the node is Ready and Services are reachable. */
export async function startRealNode({
  site,
  supervisor,
  credentials,
  api,
  logDir,
}: RealNodeParts): Promise<RealNode> {
  const { network, programs } = site;
  const files = writeNodeFiles({
    dir: site.dir,
    network,
    cgroup: site.cgroup,
    caFile: credentials.caFile,
    servingCertificate: { certFile: credentials.file('server.crt'), keyFile: credentials.file('server.key') },
    proxyKubeconfig: credentials.kubeconfig('kube-proxy'),
  });
  const component = (name: string, command: string, args: readonly string[], ready: () => Promise<boolean>) =>
    new Component({
      supervisor,
      command: site.room.inside({ name, command, args, logFile: join(logDir, `${name}.log`) }),
      ready,
    });
  const healthy = (port: number) => async () => {
    const { statusCode, body } = await request(`http://${network.nodeAddress}:${port}/healthz`);
    await body.dump();
    return statusCode === 200;
  };
  const containerd = component('containerd', 'containerd', ['--config', files.containerd], async () => {
    const version = [
      '-t',
      String(site.room.pid),
      '-m',
      '--',
      'ctr',
      '--address',
      CONTAINERD_SOCKET,
      'version',
    ];
    return (await run('nsenter', version)).ok;
  });
  const kubelet = component(
    'kubelet',
    programs.kubelet,
    [
      `--config=${files.kubelet}`,
      `--kubeconfig=${credentials.kubeconfig('kubelet')}`,
      `--hostname-override=${REAL_NODE_NAME}`,
      `--node-ip=${network.nodeAddress}`,
      `--containerd=${CONTAINERD_SOCKET}`,
    ],
    healthy(KUBELET_HEALTH_PORT),
  );
  const proxy = component(
    'kube-proxy',
    programs['kube-proxy'],
    [`--config=${files.proxy}`, `--hostname-override=${REAL_NODE_NAME}`],
    healthy(PROXY_HEALTH_PORT),
  );
  const names = await serveNames(network.hostAddress, api);
  const node = new RealNode(site, [containerd, kubelet, proxy], names);
  try {
    await containerd.start();
    await node.import(await pauseImage());
    await kubelet.start();
    // kube-proxy waits for its node by polls that are seconds apart.
    await waitFor('the real node to register', () => api.find('Node', REAL_NODE_NAME));
    await proxy.start();
    await waitFor('the real node to be Ready', async () => {
      const found = await api.find<NodeObject>('Node', REAL_NODE_NAME);
      return found?.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    });
    return node;
  } catch (error) {
    await node.stop();
    throw error;
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
