import { formatDuration, type Milliseconds, parseDuration } from '@spotalis/units';
import { parse as parseYaml } from 'yaml';
import { maskUrl } from '../logging/redact.ts';

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `allowed` replaces the kind's own sentence when the fault lies deeper inside the value. */
  | { readonly ok: false; readonly allowed?: string };

/** What a value may be, and how it is read, written and told. */
export interface Kind<T> {
  /** Completes "needs ..."; ends with a valid example. */
  readonly allowed: string;
  parse(raw: unknown): Parsed<T>;
  /** Turns the text of an environment variable into what the YAML file would have held. */
  fromText(written: string): unknown;
  /** The value as it would be written in the YAML file; a secret within is masked. */
  print(value: T): unknown;
  /** Hides the secret within a text that was refused, where there may be one. */
  readonly mask?: (written: string) => string;
}

const accept = <T>(value: T): Parsed<T> => ({ ok: true, value });
const refuse = { ok: false } as const;
const asIs = (value: unknown): unknown => value;

/** Structured values come through the environment as YAML in flow style, which JSON is a part of. */
function structured(written: string): unknown {
  try {
    return parseYaml(written);
  } catch {
    return written;
  }
}

export function duration(limits: { readonly min?: string; readonly example: string }): Kind<Milliseconds> {
  const minMs = parseDuration(limits.min ?? '0') ?? 0;
  const least = limits.min === undefined ? '' : ` of at least ${limits.min}`;
  return {
    allowed: `a duration${least}, for example ${limits.example}`,
    parse(raw) {
      const ms = typeof raw === 'string' ? parseDuration(raw) : raw === 0 ? 0 : null;
      return ms === null || ms < minMs ? refuse : accept(Math.round(ms));
    },
    fromText: asIs,
    print: formatDuration,
  };
}

export function integer(range: {
  readonly min: number;
  readonly max: number;
  readonly example: number;
}): Kind<number> {
  return {
    allowed: `a whole number from ${range.min} to ${range.max}, for example ${range.example}`,
    parse: (raw) =>
      typeof raw === 'number' && Number.isInteger(raw) && raw >= range.min && raw <= range.max
        ? accept(raw)
        : refuse,
    fromText: (written) => (/^-?\d+$/.test(written) ? Number(written) : written),
    print: asIs,
  };
}

/** Port 0 lets the system choose a free one; the log line "listening" tells which. */
export const port = (example: number): Kind<number> => integer({ min: 0, max: 65_535, example });

export const flag: Kind<boolean> = {
  allowed: 'true or false',
  parse: (raw) => (typeof raw === 'boolean' ? accept(raw) : refuse),
  fromText: (written) => (written === 'true' ? true : written === 'false' ? false : written),
  print: asIs,
};

export function choice<const T extends string>(...options: readonly T[]): Kind<T> {
  return {
    allowed: `one of ${options.join(', ')}`,
    parse(raw) {
      const found = options.find((option) => option === raw);
      return found === undefined ? refuse : accept(found);
    },
    fromText: asIs,
    print: asIs,
  };
}

export function text(form: {
  readonly pattern?: RegExp;
  readonly what?: string;
  readonly example: string;
}): Kind<string> {
  return {
    allowed: `${form.what ?? 'a text'}, for example ${form.example}`,
    parse: (raw) =>
      typeof raw === 'string' && raw !== '' && (form.pattern === undefined || form.pattern.test(raw))
        ? accept(raw)
        : refuse,
    fromText: asIs,
    print: asIs,
  };
}

/** A URL of one of the given schemes. Its password is masked wherever the value is printed. */
export function url(form: { readonly schemes: readonly string[]; readonly example: string }): Kind<string> {
  return {
    allowed: `a URL starting with ${form.schemes.map((scheme) => `${scheme}://`).join(' or ')}, for example ${form.example}`,
    parse(raw) {
      if (typeof raw !== 'string' || !URL.canParse(raw)) return refuse;
      return form.schemes.includes(new URL(raw).protocol.slice(0, -1)) ? accept(raw) : refuse;
    },
    fromText: asIs,
    print: maskUrl,
    mask: maskUrl,
  };
}

/** A list of texts. A single text counts as a list of one; the environment separates them by commas. */
export function textList(form: {
  readonly pattern?: RegExp;
  readonly what: string;
  readonly example: string;
}): Kind<readonly string[]> {
  const fits = (item: unknown): item is string =>
    typeof item === 'string' && item !== '' && (form.pattern === undefined || form.pattern.test(item));
  return {
    allowed: `${form.what}, for example ${form.example}`,
    parse(raw) {
      const items: unknown = typeof raw === 'string' ? [raw] : raw;
      if (!Array.isArray(items)) return refuse;
      const wrong = items.findIndex((item) => !fits(item));
      if (wrong === -1) return accept(items.filter(fits));
      const shown = JSON.stringify(items[wrong]);
      return { ok: false, allowed: `${form.what}, for example ${form.example}; entry ${wrong} is ${shown}` };
    },
    fromText(value) {
      // An IPv6 address begins like a YAML list.
      const list = value.trimStart().startsWith('[') ? structured(value) : undefined;
      if (Array.isArray(list)) return list;
      return value === '' ? [] : value.split(',').map((item) => item.trim());
    },
    print: asIs,
  };
}

/** Anything a checking function can read out of a map or a list; the function answers with what is wrong. */
export function structure<T>(form: {
  readonly what: string;
  readonly example: string;
  readonly read: (raw: unknown) => { readonly value: T } | { readonly problem: string };
}): Kind<T> {
  return {
    allowed: `${form.what}, for example ${form.example}`,
    parse(raw) {
      const read = form.read(raw);
      if ('value' in read) return accept(read.value);
      return { ok: false, allowed: `${form.what}, for example ${form.example}; ${read.problem}` };
    },
    fromText: structured,
    print: asIs,
  };
}
