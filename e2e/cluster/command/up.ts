import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { UpPlan } from './arguments.ts';
import type { HostMessage } from './host.ts';
import type { ClusterSummary } from './state.ts';

class StartFailed extends Error {
  readonly code = 'START_FAILED';
}

/** Resolves when the cluster is ready; it then runs without this process. */
export function up(plan: UpPlan, report: (line: string) => void): Promise<ClusterSummary> {
  const script = fileURLToPath(new URL('./host.ts', import.meta.url));
  const host = spawn(process.execPath, [script, JSON.stringify(plan)], {
    detached: true,
    // Its standard streams must not keep a pipe of ours open after we are gone.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    host.once('error', reject);
    host.once('exit', (code, signal) =>
      reject(new StartFailed(`the cluster ended at its start (${signal ?? `code ${code}`})`)),
    );
    host.on('message', (message: HostMessage) => {
      switch (message.kind) {
        case 'progress':
          report(message.line);
          return;
        case 'failed':
          reject(new StartFailed(message.message));
          return;
        case 'ready':
          host.removeAllListeners();
          host.disconnect();
          host.unref();
          resolve(message.summary);
      }
    });
  });
}
