import type { Logger } from '../logging/logger.ts';
import { announcement } from './announcement.ts';
import type { Lifecycle } from './lifecycle.ts';

/** The part of Node's process that a run needs; tests hand in their own. */
export interface ProcessLike {
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
  exit(code: number): void;
}

export interface RunOptions {
  readonly lifecycle: Lifecycle;
  readonly logger: Logger;
  readonly process?: ProcessLike;
}

const signals = ['SIGTERM', 'SIGINT'] as const;

/**
 * Runs a service from start to exit. Code 0: told to stop and stopped cleanly. Code 1: could not start, failed,
 * could not stop cleanly, or was told twice.
 */
export async function runService({ lifecycle, logger, process: host = process }: RunOptions): Promise<void> {
  let asked = false;
  const told = announcement<string>();

  const onSignal = (signal: unknown): void => {
    if (asked) {
      logger.warn('second signal: exiting at once', { signal });
      host.exit(1);
      return;
    }
    asked = true;
    logger.info('stopping', { signal });
    told.make(String(signal));
  };
  // Nothing can be said of the state after these, so nothing more is attempted, not even an orderly stop.
  const onFault = (kind: string) => (error: unknown) => {
    logger.error(kind, { error });
    host.exit(1);
  };
  const listeners: readonly (readonly [string, (...args: unknown[]) => void])[] = [
    ...signals.map((signal) => [signal, onSignal] as const),
    ['uncaughtException', onFault('uncaught exception')],
    ['unhandledRejection', onFault('unhandled rejection')],
  ];
  for (const [event, listener] of listeners) host.on(event, listener);

  const code = await supervise(lifecycle, logger, told.made);
  for (const [event, listener] of listeners) host.off(event, listener);
  host.exit(code);
}

async function supervise(lifecycle: Lifecycle, logger: Logger, told: Promise<string>): Promise<0 | 1> {
  const starting = lifecycle.start();
  const stopEarly = told.then(() => lifecycle.stop());
  try {
    await starting;
  } catch (error) {
    if (isInterruption(error)) return (await stopEarly).length === 0 ? 0 : 1;
    logger.error('could not start', { error });
    return 1;
  }
  logger.info('running');
  const end = await Promise.race([told, lifecycle.failed]);
  const problems = await lifecycle.stop();
  logger.info('stopped');
  return end instanceof Error || problems.length > 0 ? 1 : 0;
}

const isInterruption = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'START_INTERRUPTED';
