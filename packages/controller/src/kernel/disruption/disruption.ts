import type { Budgets } from '@spotalis/core';
import type { ApiClient } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import type { Cluster } from '../cluster/cluster.ts';
import { Arbiter } from './arbiter.ts';
import { Evictor } from './evictor.ts';
import { Executor } from './executor.ts';
import { Holds } from './holds.ts';
import { Register } from './register.ts';
import { stateOf } from './state.ts';

export interface DisruptionParts {
  readonly cluster: Cluster;
  readonly client: ApiClient;
  readonly mayWrite: () => boolean;
  readonly budgets: () => Budgets;
  readonly moveTimeoutMs: () => number;
  /** What the subject waited for is granted: it is to be looked at now. */
  readonly wake: (subject: string) => void;
  /** How many are under way now. */
  readonly onCount: (count: number) => void;
  readonly now: () => number;
  readonly logger: Logger;
}

export interface Disruption {
  readonly register: Register;
  readonly holds: Holds;
  readonly executor: Executor;
}

/** The one place where pods are disturbed, and all that is known of it. */
export function openDisruption(parts: DisruptionParts): Disruption {
  const { cluster, client, mayWrite } = parts;
  const register = new Register();
  const holds = new Holds(Math.random);
  const arbiter = new Arbiter({ ...parts, register });
  const executor = new Executor({
    ...parts,
    arbiter,
    register,
    holds,
    evictor: new Evictor(client, mayWrite),
    stateOf: (workloadUid, victim) => stateOf(cluster, workloadUid, victim),
  });
  return { register, holds, executor };
}
