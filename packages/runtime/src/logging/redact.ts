import { types } from 'node:util';

/** What a secret is replaced by, wherever values are written out. */
const masked = '********';

/**
 * Hides the password of every URL inside a text. Most texts have none, which is seen at once. A password may hold
 * every character that delimits a URL, so that all up to the last @ of the word goes: rather too much than too little.
 */
export const maskPasswords = (text: string): string =>
  text.includes('://') ? text.replaceAll(/\S+/g, maskWord) : text;

/** In one pass, since a text may be long and somebody else's: `scheme://user:`, and all from there to the last @. */
function maskWord(word: string): string {
  const end = word.lastIndexOf('@');
  for (let at = word.indexOf('://'); at >= 0; at = word.indexOf('://', at + 3)) {
    const colon = word.indexOf(':', at + 3);
    if (colon < 0 || colon + 1 >= end) return word;
    if (!word.slice(at + 3, colon).includes('/')) return word.slice(0, colon + 1) + masked + word.slice(end);
  }
  return word;
}

/** Hides the password of a text that is one URL, or was meant to be one. */
export function maskUrl(text: string): string {
  const end = text.lastIndexOf('@');
  if (end === -1) return text;
  const start = /^[a-z][a-z\d+.-]*:\/\//i.exec(text)?.[0].length ?? 0;
  const colon = text.indexOf(':', start);
  const kept = colon === -1 || colon > end ? start : colon + 1;
  return text.slice(0, kept) + masked + text.slice(end);
}

/** Names under which a secret would travel. File paths such as passwordFile are no secrets. */
const secretName =
  /^(authorization|cookie|password|passphrase|secret|token|bearer|credentials?|private_?key|client_?key(_?data)?|tls\.key)$/i;

/** Deeper than this nothing is worth a log line; also what ends a cycle of references. */
const maxDepth = 8;

/** A copy fit for a log: secrets masked, errors spelled out, nothing JSON cannot hold. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return maskPasswords(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) return '...';
  if (value instanceof Error || types.isNativeError(value)) return describeError(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  if (value instanceof Map) return redact(Object.fromEntries(value), depth);
  if (value instanceof Set) return redact([...value], depth);
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  // Without the lists of pairs that would be shorter: it is done for every decision.
  const copy: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    copy[name] = secretName.test(name) ? masked : redact(inner, depth + 1);
  }
  return copy;
}

function describeError(error: Error, depth: number): Record<string, unknown> {
  const described: Record<string, unknown> = { name: error.name, message: maskPasswords(error.message) };
  if ('code' in error && error.code !== undefined) described['code'] = error.code;
  if (error.stack !== undefined) described['stack'] = maskPasswords(error.stack);
  if (error.cause !== undefined) described['cause'] = redact(error.cause, depth + 1);
  if (error instanceof AggregateError) described['errors'] = redact(error.errors, depth + 1);
  return described;
}
