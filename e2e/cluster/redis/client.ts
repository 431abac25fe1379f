import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export type Reply = string | number | null | Reply[];

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface Address {
  readonly host: string;
  readonly port: number;
  /** PEM of the authority, where the server speaks TLS. */
  readonly ca?: string | undefined;
  readonly credentials?: Credentials | undefined;
}

/** Sends one command on a connection of its own (RESP2). The tests' clients are real ones; this is for set-up. */
export async function ask(address: Address, command: readonly string[], timeoutMs = 2_000): Promise<Reply> {
  const { credentials } = address;
  const commands = credentials ? [['AUTH', credentials.username, credentials.password], command] : [command];
  const socket = open(address);
  try {
    return await new Promise<Reply>((resolve, reject) => {
      let received = Buffer.alloc(0);
      socket.setTimeout(timeoutMs, () => reject(new Error(`no answer to ${command[0]} in ${timeoutMs} ms`)));
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('connection closed')));
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        try {
          let at: Parsed | undefined = { reply: null, end: 0 };
          for (const _ of commands) {
            at = parse(received, at.end);
            if (at === undefined) return;
          }
          resolve(at.reply);
        } catch (error) {
          reject(error);
        }
      });
      socket.write(commands.map(encode).join(''));
    });
  } finally {
    socket.destroy();
  }
}

function open({ host, port, ca }: Address): Socket {
  return ca === undefined ? connectTcp({ host, port }) : connectTls({ host, port, ca });
}

function encode(command: readonly string[]): string {
  return [`*${command.length}`, ...command.flatMap((part) => [`$${Buffer.byteLength(part)}`, part]), ''].join(
    '\r\n',
  );
}

interface Parsed {
  readonly reply: Reply;
  readonly end: number;
}

/** undefined while the reply is not complete; throws what the server calls an error. */
function parse(buffer: Buffer, start: number): Parsed | undefined {
  const lineEnd = buffer.indexOf('\r\n', start);
  if (lineEnd < 0) return undefined;
  const line = buffer.toString('utf8', start + 1, lineEnd);
  const end = lineEnd + 2;
  switch (buffer.toString('latin1', start, start + 1)) {
    case '+':
      return { reply: line, end };
    case '-':
      throw new Error(line);
    case ':':
      return { reply: Number(line), end };
    case '$': {
      const length = Number(line);
      if (length < 0) return { reply: null, end };
      if (buffer.length < end + length + 2) return undefined;
      return { reply: buffer.toString('utf8', end, end + length), end: end + length + 2 };
    }
    case '*': {
      const replies: Reply[] = [];
      let at = end;
      for (let index = 0; index < Number(line); index++) {
        const element = parse(buffer, at);
        if (element === undefined) return undefined;
        replies.push(element.reply);
        at = element.end;
      }
      return { reply: replies, end: at };
    }
    default:
      throw new Error(`not a RESP2 reply: ${line}`);
  }
}
