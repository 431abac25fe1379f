import { Credentials } from '@spotalis/kube';
import { createLogger, loadConfiguration, runService } from '@spotalis/runtime';
import { createController } from './app.ts';
import { readArguments, usage } from './arguments.ts';

try {
  const { config, kubeconfig, help, printConfig } = readArguments(process.argv.slice(2));
  if (help) {
    process.stdout.write(usage);
  } else {
    const configuration = await loadConfiguration({ file: config, environment: process.env });
    if (printConfig) {
      process.stdout.write(configuration.describe());
    } else {
      const logger = createLogger({ service: 'controller', ...configuration.values.logging });
      const credentials = new Credentials(kubeconfig === undefined ? {} : { path: kubeconfig });
      await runService({ lifecycle: createController({ configuration, credentials, logger }), logger });
    }
  }
} catch (error) {
  // Each line of it names one thing to change.
  process.stderr.write(`spotalis-controller: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
