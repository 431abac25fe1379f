import { settings } from '@spotalis/core';
import { Credentials } from '@spotalis/kube';
import { runCommand } from '@spotalis/runtime';
import { createController } from './app.ts';

await runCommand({
  service: 'controller',
  purpose: `Keeps the ledger true to the pods there are, and reports how each workload is split. Of several replicas
all observe and one leads.`,
  settings,
  create: ({ configuration, kubeconfig, logger }) =>
    createController({
      configuration,
      credentials: new Credentials(kubeconfig === undefined ? {} : { path: kubeconfig }),
      logger,
    }),
});
