export { Credentials, type Identity, type TlsMaterial } from './configuration/credentials.ts';
export { loadKubeconfig, type KubeconfigSource } from './configuration/kubeconfig.ts';
export * from './errors.ts';
export * from './object.ts';
export * from './queue/queue.ts';
export * from './queue/worker.ts';
export { ReflectorGroup, type ReflectorGroupOptions } from './reflector/group.ts';
export * from './reflector/reflector.ts';
export * from './resource.ts';
export * from './store.ts';
export * from './transport/client.ts';
export * from './transport/transport.ts';
export { evict, type Eviction, type EvictionOutcome } from './eviction.ts';
export {
  type ContainerResources,
  type PodResize,
  resizePod,
  type ResizeOutcome,
  type ResizeRefuser,
} from './resize.ts';
export * from './events/recorder.ts';
export * from './lease/elector.ts';
export type { LeaseClock } from './lease/clock.ts';
export type { Lease } from './lease/record.ts';
