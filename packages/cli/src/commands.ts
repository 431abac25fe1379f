import type { Command } from './command/command.ts';
import { explainCommand } from './explain/explain.ts';
import { statusCommand } from './status/status.ts';
import { versionCommand } from './version.ts';

/** In the order in which help and docs have them. */
export const commands: readonly Command[] = [statusCommand, explainCommand, versionCommand];
