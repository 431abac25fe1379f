import { settings } from '@spotalis/core';
import { Credentials } from '@spotalis/kube';
import { runCommand } from '@spotalis/runtime';
import { createApp } from './app.ts';

await runCommand({
  service: 'webhook',
  purpose: 'Decides at admission whether a pod runs on spot or on on-demand capacity.',
  settings,
  create: ({ configuration, kubeconfig, logger }) =>
    createApp({
      configuration,
      credentials: new Credentials(kubeconfig === undefined ? {} : { path: kubeconfig }),
      logger,
    }).lifecycle,
});
