/**
 * A process for lease.real.test.ts: a candidate that writes as fast as it can while it may. It is frozen and
 * woken from outside; a lost lease makes it a candidate again under a new identity. Prints when each write began,
 * under the field manager by which the audit log knows it.
 */
import { Credentials } from '../configuration/credentials.ts';
import { FenceClosedError } from '../errors.ts';
import { LeaderElector } from '../lease/elector.ts';
import { resource } from '../resource.ts';
import { ApiClient } from '../transport/client.ts';
import { Transport } from '../transport/transport.ts';

const name = process.env['WRITER'] ?? 'writer';
const [leaseDurationMs = 0, renewDeadlineMs = 0, retryPeriodMs = 0] = (process.env['TIMING'] ?? '')
  .split(',')
  .map(Number);
const configMaps = resource('v1', 'configmaps', 'ConfigMap');
const client = new ApiClient(new Transport({ credentials: new Credentials(), userAgent: name }));
const place = { namespace: 'default', name: 'written' };

let writes = 0;
for (let term = 0; ; term++) {
  const lost = new AbortController();
  const elector = new LeaderElector({
    client,
    namespace: 'default',
    name: 'leader',
    identity: `${name}-${term}`,
    timing: { leaseDurationMs, renewDeadlineMs, retryPeriodMs },
    onLost: () => lost.abort(),
  });
  elector.start();
  while (!lost.signal.aborted) {
    if (elector.mayWrite()) {
      const patch = { data: { by: `${name}-${term}`, at: String(performance.now()) } };
      const fieldManager = `${name}-${writes++}`;
      let beganWallMs = 0;
      const fence = (): boolean => {
        beganWallMs = Date.now();
        return elector.mayWrite();
      };
      try {
        await client.mergePatch(
          configMaps,
          place,
          patch,
          { fieldManager },
          { once: true, deadlineMs: 1_000, fence },
        );
      } catch (thrown) {
        if (!(thrown instanceof FenceClosedError)) {
          process.stdout.write(`failed ${String(thrown)}\n`);
        }
      }
      process.stdout.write(`began ${fieldManager} ${beganWallMs}\n`);
    } else {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
