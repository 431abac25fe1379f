import type { Budgets } from '@spotalis/core';
import type { ApiClient } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import type { MoveMetrics } from '../../modules/distribution/report/metrics.ts';
import { Arbiter } from './arbiter.ts';
import { Bypass } from '../../modules/distribution/webhook/bypass.ts';
import { Evictor } from './evictor.ts';
import { Executor } from './executor.ts';
import { Holds } from './holds.ts';
import { Register } from './register.ts';
import { SharedDefaults } from '../../modules/distribution/webhook/shared-defaults.ts';

export interface DisruptionParts {
  readonly client: ApiClient;
  readonly mayWrite: () => boolean;
  readonly budgets: () => Budgets;
  readonly moveTimeoutMs: () => number;
  /** What the subject waited for is granted: it is to be looked at now. */
  readonly wake: (subject: string) => void;
  readonly metrics: Pick<MoveMetrics, 'moved' | 'inFlight'>;
  readonly now: () => number;
  readonly logger: Logger;
}

export interface Disruption {
  readonly register: Register;
  readonly holds: Holds;
  readonly bypass: Bypass;
  readonly sharedDefaults: SharedDefaults;
  readonly executor: Executor;
}

/** The one place where pods are disturbed, and all that is known of it. */
export function openDisruption(parts: DisruptionParts): Disruption {
  const { client, mayWrite } = parts;
  const register = new Register();
  const holds = new Holds(Math.random);
  const bypass = new Bypass();
  const sharedDefaults = new SharedDefaults();
  const arbiter = new Arbiter({ ...parts, register });
  const evictor = new Evictor(client, mayWrite);
  const executor = new Executor({ ...parts, arbiter, register, holds, bypass, sharedDefaults, evictor });
  return { register, holds, bypass, sharedDefaults, executor };
}
