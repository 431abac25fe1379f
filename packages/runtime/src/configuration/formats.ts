import { formatDuration, parseDuration, type Setting } from '@spotalis/units';
import { parse as parseYaml } from 'yaml';
import { maskUrl } from '../logging/redact.ts';

type Parsed =
  | { readonly ok: true; readonly value: unknown }
  /** `allowed` replaces the format's own sentence when the fault lies deeper inside the value. */
  | { readonly ok: false; readonly allowed?: string };

interface Format {
  /** Completes "needs ..."; ends with a valid example. */
  readonly allowed: string;
  /** `written`: as the YAML file holds it. */
  parse(written: unknown): Parsed;
}

const accept = (value: unknown): Parsed => ({ ok: true, value });
const refuse = { ok: false } as const;
const asIs = (written: string): unknown => written;

/** Structured values come through the environment as YAML in flow style, which JSON is a part of. */
function structured(written: string): unknown {
  try {
    return parseYaml(written);
  } catch {
    return written;
  }
}

const wholeNumber = (written: string): unknown => (/^-?\d+$/.test(written) ? Number(written) : written);

/** By format: the text of an environment variable as the YAML file would have held it. */
export const fromText: Readonly<Record<Setting['format'], (written: string) => unknown>> = {
  duration: asIs,
  integer: wholeNumber,
  port: wholeNumber,
  flag: (written) => (written === 'true' ? true : written === 'false' ? false : written),
  choice: asIs,
  text: asIs,
  url: asIs,
  list(written) {
    // An IPv6 address begins like a YAML list.
    const items = written.trimStart().startsWith('[') ? structured(written) : undefined;
    if (Array.isArray(items)) return items;
    return written === '' ? [] : written.split(',').map((item) => item.trim());
  },
  structure: structured,
};

type Of<Name extends Setting['format']> = Extract<Setting, { readonly format: Name }>;

function duration({ min, example }: Of<'duration'>): Format {
  const minMs = parseDuration(min ?? '0') ?? 0;
  const least = min === undefined ? '' : ` of at least ${min}`;
  return {
    allowed: `a duration${least}, for example ${example}`,
    parse(written) {
      const ms = typeof written === 'string' ? parseDuration(written) : written === 0 ? 0 : null;
      return ms === null || ms < minMs ? refuse : accept(Math.round(ms));
    },
  };
}

function integer({ min, max, example }: Pick<Of<'integer'>, 'min' | 'max' | 'example'>): Format {
  return {
    allowed: `a whole number from ${min} to ${max}, for example ${example}`,
    parse: (written) =>
      typeof written === 'number' && Number.isInteger(written) && written >= min && written <= max
        ? accept(written)
        : refuse,
  };
}

const port = ({ default: example }: Of<'port'>): Format => integer({ min: 0, max: 65_535, example });

const flag: Format = {
  allowed: 'true or false',
  parse: (written) => (typeof written === 'boolean' ? accept(written) : refuse),
};

function choice({ options }: Of<'choice'>): Format {
  return {
    allowed: `one of ${options.join(', ')}`,
    parse: (written) => (options.some((option) => option === written) ? accept(written) : refuse),
  };
}

const isText = (written: unknown, pattern: RegExp | undefined): written is string =>
  typeof written === 'string' && written !== '' && (pattern === undefined || pattern.test(written));

function text({ what = 'a text', pattern, example }: Of<'text'>): Format {
  return {
    allowed: `${what}, for example ${example}`,
    parse: (written) => (isText(written, pattern) ? accept(written) : refuse),
  };
}

function url({ schemes, example }: Of<'url'>): Format {
  return {
    allowed: `a URL starting with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}, for example ${example}`,
    parse(written) {
      if (typeof written !== 'string' || !URL.canParse(written)) return refuse;
      return schemes.includes(new URL(written).protocol.slice(0, -1)) ? accept(written) : refuse;
    },
  };
}

function list({ what, pattern, example }: Of<'list'>): Format {
  return {
    allowed: `${what}, for example ${example}`,
    parse(written) {
      const items: unknown = typeof written === 'string' ? [written] : written;
      if (!Array.isArray(items)) return refuse;
      const wrong = items.findIndex((item) => !isText(item, pattern));
      if (wrong === -1) return accept(items);
      const shown = JSON.stringify(items[wrong]);
      return { ok: false, allowed: `${what}, for example ${example}; entry ${wrong} is ${shown}` };
    },
  };
}

function structure({ what, example, read: readStructure }: Of<'structure'>): Format {
  return {
    allowed: `${what}, for example ${example}`,
    parse(written) {
      const reading = readStructure(written);
      if ('value' in reading) return accept(reading.value);
      return { ok: false, allowed: `${what}, for example ${example}; ${reading.problem}` };
    },
  };
}

function formatOf(setting: Setting): Format {
  switch (setting.format) {
    case 'duration':
      return duration(setting);
    case 'integer':
      return integer(setting);
    case 'port':
      return port(setting);
    case 'flag':
      return flag;
    case 'choice':
      return choice(setting);
    case 'text':
      return text(setting);
    case 'url':
      return url(setting);
    case 'list':
      return list(setting);
    case 'structure':
      break;
  }
  return structure(setting);
}

/** What is allowed, for people. */
export const allowedIn = (setting: Setting): string => formatOf(setting).allowed;

export type Reading =
  | { readonly ok: true; readonly value: unknown }
  /** `needed` completes "needs ...". */
  | { readonly ok: false; readonly needed: string };

/** The value for the code, of what was written. */
export function read(setting: Setting, written: unknown): Reading {
  if (written === null && setting.default === null) return { ok: true, value: undefined };
  const format = formatOf(setting);
  const parsed = format.parse(written);
  return parsed.ok ? parsed : { ok: false, needed: parsed.allowed ?? format.allowed };
}

/** A value as it would be written in the YAML file; a secret within is masked. */
export function print({ format }: Setting, value: unknown): unknown {
  if (value === undefined) return null;
  if (format === 'duration' && typeof value === 'number') return formatDuration(value);
  return masked(format, value);
}

/** Hides the secret in a value, accepted or not, where its format may have one. */
export const masked = (format: Setting['format'], value: unknown): unknown =>
  format === 'url' && typeof value === 'string' ? maskUrl(value) : value;
