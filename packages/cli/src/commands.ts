import type { Command } from './command/command.ts';
import { completionCommand } from './completion/completion.ts';
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
  enableCommand,
  disableCommand,
  completionCommand,
  versionCommand,
];
