import type { Component } from '@spotalis/runtime';
import type { OpenKernel } from './kernel.ts';
import type { Module, OpenModule } from './module.ts';
import type { Availability } from './report/modules.ts';
import { Runner } from './runner.ts';
import { wallMs } from './clocks.ts';
import { Watched } from './watch.ts';

/** A module that runs, or waits for its turn to lead. */
export interface Opened {
  readonly name: Module['name'];
  readonly module: OpenModule;
  readonly components: readonly Component[];
  readonly availability: () => Availability;
}

/** Opens a module on the kernel: its own watches, its queue and its looks. */
export function openModule(module: Module, kernel: OpenKernel): Opened {
  const { client, disruption, runners, mayWrite, workers, logger, reflectorObserver, onHandlerError } =
    kernel;
  const { name } = module;
  const watched = new Watched(module.watches, {
    client,
    observer: reflectorObserver,
    onHandlerError,
    onChange(unavailable) {
      if (unavailable === undefined) runners.againFor(name);
      else logger.warn('module unavailable; looking again every minute', { module: name, ...unavailable });
    },
  });
  const opened = module.open({ ...kernel, storeOf: (watch) => watch.storeOf(watched) });
  const { queue = { name, workers: 1 } } = opened;
  runners.add(
    new Runner({
      name,
      module: opened,
      workers: workers(queue.name, queue.workers),
      executor: disruption.executor,
      isAvailable: () => watched.isAvailable,
      mayWrite,
      now: wallMs,
      logger,
    }),
  );
  return {
    name,
    module: opened,
    components: [...(opened.components ?? []), { name: `${name} watches`, ...lifeOf(watched) }],
    availability: () => ({ name, unavailable: watched.unavailable }),
  };
}

const lifeOf = (watched: Watched): Pick<Component, 'start' | 'stop'> => ({
  start: () => watched.start(),
  stop: () => watched.stop(),
});
