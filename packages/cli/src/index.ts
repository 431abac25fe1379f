export { commands } from './commands.ts';
export { cliReference } from './command/usage.ts';
