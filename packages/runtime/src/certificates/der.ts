/**
 * The few ASN.1 values an X.509 certificate is made of, in DER (X.690). Writing only: certificates are read by
 * Node. The libraries that do this cost 24 MB of memory and 750 kB of bundle for the one shape needed here.
 */
export type Der = Buffer;

function tagged(tag: number, ...content: readonly Uint8Array[]): Der {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), length(body.length), body]);
}

function length(count: number): Buffer {
  if (count < 0x80) return Buffer.from([count]);
  const hex = count.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

export const sequence = (...items: readonly Der[]): Der => tagged(0x30, ...items);
export const set = (...items: readonly Der[]): Der => tagged(0x31, ...items);
export const utf8 = (text: string): Der => tagged(0x0c, Buffer.from(text));
export const octets = (bytes: Uint8Array): Der => tagged(0x04, bytes);
export const boolean = (value: boolean): Der => tagged(0x01, Buffer.from([value ? 0xff : 0]));

/** A constructed value with a context tag: `[number]` with the value inside. */
export const explicit = (number: number, value: Der): Der => tagged(0xa0 | number, value);
/** A primitive value whose own tag is replaced by a context tag. */
export const implicit = (number: number, content: Uint8Array): Der => tagged(0x80 | number, content);

/** An integer of at least zero, from its big-endian bytes: no leading zeros but the one that keeps it positive. */
export function unsigned(bytes: Uint8Array): Der {
  const first = bytes.findIndex((byte) => byte !== 0);
  const kept = first === -1 ? Buffer.from([0]) : Buffer.from(bytes.subarray(first));
  return tagged(0x02, (kept[0] ?? 0) & 0x80 ? Buffer.from([0]) : Buffer.alloc(0), kept);
}

/** Bits counted from the left; `unused` of the last byte do not count. */
export const bits = (bytes: Uint8Array, unused = 0): Der => tagged(0x03, Buffer.from([unused]), bytes);

export function objectId(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const septets = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) septets.unshift((left & 0x7f) | 0x80);
    return septets;
  });
  return tagged(0x06, Buffer.from(bytes));
}

/** UTCTime up to 2049 and GeneralizedTime after, in whole seconds, as RFC 5280 (4.1.2.5) wants it. */
export function time(ms: number): Der {
  const digits = new Date(ms).toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '');
  return new Date(ms).getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(digits.slice(2)))
    : tagged(0x18, Buffer.from(digits));
}
