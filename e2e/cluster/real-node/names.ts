import { createSocket, type Socket } from 'node:dgram';
import type { ApiClient, KubeObject } from '../api/client.ts';

/** Answers for the names of Services, as the cluster's DNS would; it knows no others. */
export interface ServiceNames {
  readonly port: number;
  close(): Promise<void>;
}

interface ServiceObject extends KubeObject {
  readonly spec: { readonly clusterIP?: string };
}

const HEADER_BYTES = 12;
const TTL_SECONDS = 5;
const TYPE_A = 1;
const NO_SUCH_NAME = 3;

/** Port 53 is where a resolver asks. */
export async function serveNames(
  address: string,
  api: Pick<ApiClient, 'find'>,
  port = 53,
): Promise<ServiceNames> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    void answer(query, api).then((packet) => packet && send(socket, packet, from));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(port, address, resolve);
  });
  socket.unref();
  return { port: socket.address().port, close: () => new Promise((resolve) => socket.close(resolve)) };
}

/** The asker may be gone, or this server. */
function send(socket: Socket, packet: Buffer, { port, address }: { port: number; address: string }): void {
  try {
    socket.send(packet, port, address);
  } catch {
    // Who still wants to know asks again.
  }
}

/** undefined where the API server does not say: no answer, and the asker tries again. */
async function answer(query: Buffer, api: Pick<ApiClient, 'find'>): Promise<Buffer | undefined> {
  const question = readQuestion(query);
  if (question === undefined) return undefined;
  const [service, namespace, ...zone] = question.name.split('.');
  const ours = zone.join('.') === 'svc.cluster.local';
  try {
    const found = ours ? await api.find<ServiceObject>('Service', `${namespace}/${service}`) : undefined;
    const address = found?.spec.clusterIP;
    if (address === undefined || address === 'None') return reply(query, question.end, NO_SUCH_NAME, []);
    return reply(query, question.end, 0, question.type === TYPE_A ? [address] : []);
  } catch {
    return undefined;
  }
}

/** RFC 1035, 4.1: one question, its name as labels with their lengths. */
function readQuestion(query: Buffer): { name: string; type: number; end: number } | undefined {
  if (query.length < HEADER_BYTES || query.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  if (query.length < end) return undefined;
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end };
}

function reply(query: Buffer, end: number, code: number, addresses: readonly string[]): Buffer {
  const head = Buffer.from(query.subarray(0, end));
  // An authoritative answer, to the question as it was put.
  head.writeUInt16BE(0x8480 | (head.readUInt16BE(2) & 0x0100) | code, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const record = Buffer.alloc(16);
    // The name of the question, by a pointer to it.
    record.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
    record.writeUInt16BE(TYPE_A, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(TTL_SECONDS, 6);
    record.writeUInt16BE(4, 10);
    record.set(address.split('.').map(Number), 12);
    return record;
  });
  return Buffer.concat([head, ...records]);
}
