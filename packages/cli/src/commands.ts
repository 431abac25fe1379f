import type { Command } from './command/command.ts';
import { completionCommand } from './completion/completion.ts';
import { doctorCommand } from './doctor/doctor.ts';
import { disableCommand, enableCommand } from './enable/enable.ts';
import { explainCommand } from './explain/explain.ts';
import { planCommand } from './plan/plan.ts';
import { statusCommand } from './status/status.ts';
import { versionCommand } from './version.ts';

/** In the order in which help and docs have them. */
export const commands: readonly Command[] = [
  statusCommand,
  explainCommand,
  planCommand,
  doctorCommand,
  enableCommand,
  disableCommand,
  completionCommand,
  versionCommand,
];
