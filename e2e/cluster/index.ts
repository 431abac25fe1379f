export { type AuditEvent, AuditLog } from './api/audit.ts';
export { ApiClient, type KubeObject, type ListOptions, type WatchEvent } from './api/client.ts';
export { ApiError } from './api/error.ts';
export { type PrepareOptions, prepareBinaries, prepareHelm, prepareKubectl } from './binaries/prepare.ts';
export { Cluster, type ClusterOptions, startCluster } from './cluster.ts';
export { chartDir, Helm, HelmError, type Release, type Values } from './helm/helm.ts';
export { type Balancer, startBalancer } from './installation/balancer.ts';
export { bundleServices, nodeArgsOf, nodeEnvironment } from './installation/bundles.ts';
export {
  Installation,
  type InstallationOptions,
  type InstallationTarget,
  install,
  uninstall,
} from './installation/installation.ts';
export type { ImageArchive } from './images/archive.ts';
export { redisImage } from './images/others.ts';
export { serviceImage } from './images/service.ts';
export { installationNamespace, webhookService } from './installation/manifests.ts';
export { connectCluster, ExistingCluster } from './existing.ts';
export { GONE_AFTER_ANNOTATION, type Hold, HOLD_ANNOTATION, READY_AFTER_ANNOTATION } from './kwok/stages.ts';
export { findDefinitions } from './binaries/definitions.ts';
export { findKarpenter } from './binaries/karpenter.ts';
export { type Karpenter, startKarpenter } from './karpenter/karpenter.ts';
export { isCached, isRare, PARTS } from './parts.ts';
export { startCertManager } from './cert-manager/cert-manager.ts';
export { findMetricsServer, startMetricsServer } from './metrics-server/metrics-server.ts';
export type { Component } from './process/component.ts';
export { freePorts } from './process/ports.ts';
export { waitFor, type WaitOptions } from './process/wait.ts';
export { type Gate, type GateCall, startGate, type Treatment } from './proxy/gate.ts';
export { findPrometheus } from './prometheus/program.ts';
export { Prometheus, startPrometheus } from './prometheus/prometheus.ts';
export { promtool } from './prometheus/promtool.ts';
export { type Proxy, startProxy } from './proxy/proxy.ts';
export { type RealNode, realNodeOnly } from './real-node/node.ts';
export { whyNoRealNode } from './real-node/possible.ts';
export { RedisNode } from './redis/node.ts';
export { type RedisOptions, RedisServers, startRedis } from './redis/servers.ts';
export { findShells, type Shell } from './shells/program.ts';
export { Terminal } from './shells/terminal.ts';
export { ALTERNATIVES } from './versions.ts';
export type { ServiceOptions } from './service.ts';
