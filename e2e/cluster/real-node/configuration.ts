import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { PAUSE_IMAGE } from '../images/others.ts';
import type { NodeNetwork } from './network.ts';

export const CONTAINERD_SOCKET = '/run/containerd/containerd.sock';
/** Keeps all pods off whose namespace does not say that they are to run for real. */
export const REAL_TAINT = { key: 'testcluster.spotalis.io/real', effect: 'NoSchedule' };
export const KUBELET_HEALTH_PORT = 10_248;
export const PROXY_HEALTH_PORT = 10_256;

export interface NodeSettings {
  /** For the files. */
  readonly dir: string;
  readonly network: NodeNetwork;
  /** Below which all pods live. */
  readonly cgroup: string;
  readonly caFile: string;
  readonly servingCertificate: { readonly certFile: string; readonly keyFile: string };
  readonly proxyKubeconfig: string;
}

export interface NodeFiles {
  readonly containerd: string;
  readonly kubelet: string;
  readonly proxy: string;
}

export function writeNodeFiles(settings: NodeSettings): NodeFiles {
  const { dir } = settings;
  const cniDir = join(dir, 'cni');
  mkdirSync(cniDir, { recursive: true });
  write(cniDir, '10-bridge.conflist', JSON.stringify(cni(settings.network)));
  return {
    containerd: write(dir, 'containerd.toml', containerd(cniDir)),
    kubelet: write(dir, 'kubelet.yaml', stringify(kubelet(settings))),
    proxy: write(dir, 'kube-proxy.yaml', stringify(proxy(settings))),
  };
}

function write(dir: string, name: string, content: string): string {
  const file = join(dir, name);
  writeFileSync(file, content);
  return file;
}

/** Even root may be without CAP_SYS_RESOURCE, which lower scores for the out-of-memory killer take. */
function containerd(cniDir: string): string {
  return `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  disable_apparmor = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "${cniDir}"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = false
`;
}

function cni({ podRange }: NodeNetwork): object {
  return {
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: 'pods',
        isDefaultGateway: true,
        hairpinMode: true,
        ipam: { type: 'host-local', ranges: [[{ subnet: podRange }]] },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}

function kubelet({ network, cgroup, caFile, servingCertificate }: NodeSettings): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: network.nodeAddress,
    healthzBindAddress: network.nodeAddress,
    healthzPort: KUBELET_HEALTH_PORT,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: caFile },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: servingCertificate.certFile,
    tlsPrivateKeyFile: servingCertificate.keyFile,
    containerRuntimeEndpoint: `unix://${CONTAINERD_SOCKET}`,
    clusterDNS: [network.hostAddress],
    clusterDomain: 'cluster.local',
    resolvConf: '',
    registerWithTaints: [REAL_TAINT],
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    enforceNodeAllocatable: ['pods'],
    failCgroupV1: false,
    failSwapOn: false,
    // The images are here and nowhere else, and the disk belongs to others.
    imageGCHighThresholdPercent: 100,
    evictionHard: {
      'memory.available': '50Mi',
      'nodefs.available': '0%',
      'nodefs.inodesFree': '0%',
      'imagefs.available': '0%',
    },
    systemReserved: { cpu: '100m', memory: '100Mi' },
    serializeImagePulls: false,
    registryPullQPS: 0,
    kubeAPIQPS: 500,
    kubeAPIBurst: 500,
  };
}

function proxy({ network, proxyKubeconfig }: NodeSettings): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    clusterCIDR: network.podRange,
    clientConnection: { kubeconfig: proxyKubeconfig },
    healthzBindAddress: `${network.nodeAddress}:${PROXY_HEALTH_PORT}`,
    metricsBindAddress: `${network.nodeAddress}:10249`,
    // The table of connections is the machine's.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
}
