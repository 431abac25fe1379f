import { type Configuration, isOn } from '@spotalis/core';
import {
  type Component,
  debugServer,
  EventLoop,
  healthServer,
  Lifecycle,
  metricsServer,
} from '@spotalis/runtime';
import { wallMs } from './kernel/clocks.ts';
import { followDisruptions, liftHolds } from './kernel/duties.ts';
import { type KernelParts, LEASE_NAME, openKernel, type OpenKernel } from './kernel/kernel.ts';
import { Leading } from './kernel/leader/leading.ts';
import { takeOver } from './kernel/leader/succession.ts';
import type { Module } from './kernel/module.ts';
import { type Opened, openModule } from './kernel/open.ts';
import { viewModules } from './kernel/report/modules.ts';
import { modules as all } from './modules/catalogue.ts';

/** In the order in which they start; they stop in reverse. The work begins with the election, when this process leads. */
type StartGroups = Readonly<Record<'health' | 'stores' | 'observers' | 'election', readonly Component[]>>;

/** Modules that are off are not opened. */
const modulesOf = ({ modules: switches }: Configuration): readonly Module[] =>
  all.filter((module) => isOn(module, switches));

/**
 * The whole service, wired. The Lease goes last, when nothing of ours acts any more. With no module nothing is watched,
 * and a replica leads all the same.
 */
export function createController(
  parts: KernelParts,
  modules: readonly Module[] = modulesOf(parts.configuration.values),
): Lifecycle {
  const kernel = openKernel(parts);
  const opened = modules.map((module) => openModule(module, kernel));
  viewModules(kernel.metrics, () => opened.map(({ availability }) => availability()));
  kernel.reloads.follow(() => kernel.runners.again());
  const isIdle = opened.length === 0;
  kernel.leadership.does(new Leading(isIdle ? [] : dutiesOf(kernel), kernel.runners));

  const lifecycle = new Lifecycle(parts.logger);
  const { readiness } = lifecycle;
  if (!isIdle) readiness.add('stores', kernel.reflectors.check);
  for (const { module } of opened) {
    for (const [name, note] of Object.entries(module.notes ?? {})) readiness.add(name, () => ({ note }));
  }
  const groups: StartGroups = {
    health: [...healthOf(parts, kernel, opened, lifecycle), ...kernel.connections],
    stores: isIdle ? [] : [kernel.reflectors],
    observers: opened.flatMap(({ components }) => components),
    election: [kernel.leadership],
  };
  return lifecycle.add(...groups.health, ...groups.stores, ...groups.observers, ...groups.election);
}

function healthOf(
  { configuration: { values }, logger }: KernelParts,
  kernel: OpenKernel,
  opened: readonly Opened[],
  { readiness }: Lifecycle,
): readonly Component[] {
  const { metrics } = kernel;
  const eventLoop = new EventLoop();
  const state = (): unknown => stateOf(kernel, opened);
  return [
    eventLoop,
    healthServer({ port: values.health.port, eventLoop, readiness, logger }),
    ...(values.metrics.enabled
      ? [metricsServer({ port: values.metrics.port, exposition: metrics, logger })]
      : []),
    debugServer({ port: values.debug.port, state, logger }),
  ];
}

/** What begins with leading, before the modules. */
function dutiesOf(kernel: OpenKernel): ConstructorParameters<typeof Leading>[0] {
  const {
    values,
    cluster,
    client,
    disruption,
    placeholders,
    identity,
    leaseNamespace,
    moveTimeoutMs,
    logger,
  } = kernel;
  const { register, executor, holds } = disruption;
  const lease = { namespace: leaseNamespace, name: LEASE_NAME, identity };
  return [
    () => {
      takeOver({
        cluster,
        register,
        client,
        lease: values.controller.leaderElection.enabled ? lease : undefined,
        moveTimeoutMs,
        now: wallMs,
        logger,
      });
      return () => undefined;
    },
    () => placeholders.lead(),
    () => liftHolds(cluster, holds),
    () => followDisruptions(executor),
  ];
}

/** For people: of the kernel, and of each module what it names. */
function stateOf(
  { identity, leadership, isReadOnly, cluster, disruption, placeholders }: OpenKernel,
  opened: readonly Opened[],
): unknown {
  const availabilities = opened.map(({ name, availability }) => [
    name,
    availability().unavailable ?? 'Available',
  ]);
  return {
    identity,
    leader: { isLeader: leadership.isLeader, holder: leadership.holder },
    readOnly: isReadOnly(),
    stores: cluster.sizes(),
    movesInFlight: disruption.register.state(),
    placeholders: placeholders.state(),
    modules: Object.fromEntries(availabilities),
    ...Object.assign({}, ...opened.map(({ module }) => module.state?.())),
  };
}
