/** The few ASN.1 values that a certificate is made of, in DER (X.690). */
export type Der = Buffer;

export const sequence = (...parts: Der[]): Der => value(0x30, Buffer.concat(parts));
export const set = (...parts: Der[]): Der => value(0x31, Buffer.concat(parts));
export const octets = (content: Buffer): Der => value(0x04, content);
export const text = (content: string): Der => value(0x0c, Buffer.from(content, 'utf8'));
export const boolean = (content: boolean): Der => value(0x01, Buffer.from([content ? 0xff : 0]));
export const bits = (content: Buffer, unusedBits = 0): Der =>
  value(0x03, Buffer.concat([Buffer.from([unusedBits]), content]));
/** `[tag]` around or instead of a value. */
export const tagged = (tag: number, content: Buffer, constructed: boolean): Der =>
  value((constructed ? 0xa0 : 0x80) | tag, content);

/** A positive integer, from its big-endian bytes. */
export function integer(bytes: Buffer): Der {
  const first = bytes[0] ?? 0;
  return value(0x02, first >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** UTCTime, which RFC 5280 asks for up to the year 2049. */
export function time(date: Date): Der {
  const digits = date.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14);
  return value(0x17, Buffer.from(`${digits}Z`, 'ascii'));
}

export function oid(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const septets = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) septets.unshift((left & 0x7f) | 0x80);
    bytes.push(...septets);
  }
  return value(0x06, Buffer.from(bytes));
}

function value(tag: number, content: Buffer): Der {
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const short = length.subarray(length.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.from([tag, 0x80 | short.length]), short, content]);
}
