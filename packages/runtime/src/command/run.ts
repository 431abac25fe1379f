import type { Declared, SettingGroup } from '@spotalis/units';
import { type LoadedConfiguration, loadConfiguration } from '../configuration/configuration.ts';
import type { Lifecycle } from '../lifecycle/lifecycle.ts';
import { runService } from '../lifecycle/process.ts';
import { createLogger, type RootLogger } from '../logging/logger.ts';
import { readCommand } from './command.ts';

export interface ServiceParts<S extends SettingGroup> {
  readonly configuration: LoadedConfiguration<S>;
  readonly logger: RootLogger;
  /** As given on the command line. */
  readonly kubeconfig: string | undefined;
}

export interface ServiceCommand<S extends SettingGroup> {
  /** Names the program (spotalis-NAME) and its log lines. */
  readonly service: string;
  readonly purpose: string;
  readonly settings: Declared<S>;
  /** Wires the service; starting it is done here. */
  readonly create: (parts: ServiceParts<S>) => Lifecycle;
}

/** The main function of a service: does what the command line says, and exits with 1 when it cannot. */
export async function runCommand<S extends SettingGroup>({
  service,
  purpose,
  settings,
  create,
}: ServiceCommand<S>): Promise<void> {
  const program = `spotalis-${service}`;
  try {
    const command = readCommand(process.argv.slice(2), program, purpose);
    if (command.kind === 'help') {
      process.stdout.write(command.usage);
      return;
    }
    const configuration = await loadConfiguration(settings, {
      file: command.configFile,
      environment: process.env,
    });
    if (command.kind === 'print-config') {
      process.stdout.write(configuration.describe());
      return;
    }
    const { level, format } = configuration.values.logging;
    const logger = createLogger({ service, level, format });
    await runService({
      lifecycle: create({ configuration, logger, kubeconfig: command.kubeconfig }),
      logger,
    });
  } catch (error) {
    // Each line of it names one thing to change.
    const message = `${program}: ${error instanceof Error ? error.message : String(error)}\n`;
    await new Promise((resolve) => process.stderr.write(message, resolve));
    // At once: whatever was opened on the way here would keep the process.
    process.exit(1);
  }
}
