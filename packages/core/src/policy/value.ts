/** What a parser of one annotation value returns: the value, or what would have been right in words. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly expected: string };

const refuse = (expected: string): Parsed<never> => ({ ok: false, expected });

function integer(text: string, most: number, expected: string): Parsed<number> {
  // Digits only: Number() would also take '', '1e2', '0x10' and '7.0'.
  if (!/^[0-9]+$/.test(text)) return refuse(expected);
  const value = Number(text);
  return value <= most ? { ok: true, value } : refuse(expected);
}

/** 0 to 100; outer spaces and one trailing percent sign are ignored. */
export function parsePercentage(text: string): Parsed<number> {
  const trimmed = text.trim();
  const digits = trimmed.endsWith('%') ? trimmed.slice(0, -1) : trimmed;
  return integer(digits, 100, 'an integer from 0 to 100');
}

export function parseMinOnDemand(text: string): Parsed<number> {
  return integer(text, 10_000, 'an integer from 0 to 10000');
}

export function parseBoolean(text: string): Parsed<boolean> {
  if (text === 'true') return { ok: true, value: true };
  if (text === 'false') return { ok: true, value: false };
  return refuse('"true" or "false"');
}
