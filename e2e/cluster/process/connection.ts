import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Whether a process is at the other end of a connection on loopback, given that end's port. */
export function isConnectionOf(pid: number, port: number): boolean {
  const inode = inodeOf(port);
  if (inode === undefined) return false;
  const directory = `/proc/${pid}/fd`;
  return readdirSync(directory).some((fd) => {
    try {
      return readlinkSync(`${directory}/${fd}`) === `socket:[${inode}]`;
    } catch {
      // It was closed meanwhile.
      return false;
    }
  });
}

/** The kernel lists connections with their local address and port in hexadecimal. */
function inodeOf(port: number): string | undefined {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (fields[1] === local) return fields[9];
  }
  return undefined;
}
