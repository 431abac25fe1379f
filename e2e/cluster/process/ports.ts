import { createServer } from 'node:net';

/**
 * Below Linux's ephemeral range (32768 upwards): no outgoing connection can take a port between our check and
 * the bind of the process it is meant for, nor while that process is down for a moment.
 */
const FIRST_PORT = 12_000;
const PORT_COUNT = 20_000;
/** Processes that start at the same time have close pids, so each gets a stretch of its own to search first. */
const STRETCH = 32;

let next = (process.pid * STRETCH) % PORT_COUNT;

/** Free TCP ports on loopback; one process never hands out the same port twice until it has tried them all. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tried = 0; ports.length < count; tried++) {
    if (tried === PORT_COUNT)
      throw new Error(`no ${count} free TCP ports on 127.0.0.1 from ${FIRST_PORT} on`);
    const port = FIRST_PORT + next;
    next = (next + 1) % PORT_COUNT;
    if (await portIsFree(port)) ports.push(port);
  }
  return ports;
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no free TCP port on 127.0.0.1');
  return port;
}

export function portIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
