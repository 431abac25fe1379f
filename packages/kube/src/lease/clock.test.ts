import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';

const SCRIPT = `
  const tell = () => process.stdout.write(performance.now() + '\\n');
  process.stdin.on('data', tell);
  tell();
`;

it('the monotonic clock of Node goes on while the process is stopped', async () => {
  const child = spawn(process.execPath, ['-e', SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
  const hear = async (): Promise<number> => {
    const [line]: unknown[] = await once(child.stdout, 'data');
    return Number(String(line));
  };
  try {
    const before = await hear();
    child.kill('SIGSTOP');
    const stoppedMs = performance.now();
    await delay(300);
    child.kill('SIGCONT');
    const frozenMs = performance.now() - stoppedMs;
    child.stdin.write('tell\n');
    expect((await hear()) - before).toBeGreaterThanOrEqual(Math.floor(frozenMs));
  } finally {
    child.kill('SIGKILL');
  }
});
