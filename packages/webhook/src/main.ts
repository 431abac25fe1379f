import { Credentials } from '@spotalis/kube';
import { createLogger, loadConfiguration, runService } from '@spotalis/runtime';
import { createApp } from './app.ts';
import { readCommand, usage } from './command.ts';

try {
  const command = readCommand(process.argv.slice(2));
  if (command.kind === 'help') {
    process.stdout.write(usage);
  } else {
    const configuration = await loadConfiguration({ file: command.configFile, environment: process.env });
    if (command.kind === 'print-config') {
      process.stdout.write(configuration.describe());
    } else {
      const logger = createLogger({ service: 'webhook', ...configuration.values.logging });
      const credentials = new Credentials(
        command.kubeconfig === undefined ? {} : { path: command.kubeconfig },
      );
      const { lifecycle } = createApp({ configuration, credentials, logger });
      await runService({ lifecycle, logger });
    }
  }
} catch (error) {
  // Each line of it names one thing to change.
  process.stderr.write(`spotalis-webhook: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
