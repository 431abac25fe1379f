import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A TCP connection on loopback as its beginning end sees it. */
export interface LoopbackConnection {
  readonly fromPort: number;
  readonly toPort: number;
}

/** Whether this process began the connection. */
export function isConnectionOf(pid: number, connection: LoopbackConnection): boolean {
  const inode = inodeOf(connection);
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

/** By both ends: one port begins connections to several others, of which some may be long over and still listed. */
function inodeOf({ fromPort, toPort }: LoopbackConnection): string | undefined {
  const [from, to] = [listed(fromPort), listed(toPort)];
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (fields[1] === from && fields[2] === to) return fields[9];
  }
  return undefined;
}

/** The kernel lists addresses and ports in hexadecimal. */
const listed = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
