import { parseDuration } from '@spotalis/units';

type Unit = 'ms' | 's' | 'm' | 'h';
type Suffix =
  | ''
  | 'n'
  | 'u'
  | 'm'
  | 'k'
  | 'M'
  | 'G'
  | 'T'
  | 'P'
  | 'E'
  | 'Ki'
  | 'Mi'
  | 'Gi'
  | 'Ti'
  | 'Pi'
  | 'Ei';

/** A duration as the Gateway API writes it (GEP-2257): `15m`, `1h30m`, `500ms`. Never negative. */
export type Duration = `${number}${Unit}${string}`;
/** An amount of CPU or memory: `250m`, `1.5Gi`, or a plain number. Never negative. */
export type Quantity = number | `${number}${Suffix}`;
/** 0 to 100 with a percent sign. */
export type Percentage = `${number}%`;

export type AmountType = 'duration' | 'quantity' | 'percentage';

/** One kind of amount: how it is written, and how two of them compare, here and in CEL. */
interface Form {
  /** Reads the same in JavaScript and in RE2. */
  readonly pattern: string;
  readonly longest: number;
  readonly noun: string;
  readonly read: (text: string) => bigint;
  /** The CEL value of the expression `text`, which is a string that matches the pattern. */
  readonly cel: (text: string) => string;
}

const NANO_DIGITS = 9;

/** CEL caps some quantities at 2^63 and others not; so far below they compare alike. */
export const LARGEST_QUANTITY = '1E';

const factors: Readonly<Record<string, readonly [digits: bigint, exponent: number]>> = {
  n: [1n, 0],
  u: [1n, 3],
  m: [1n, 6],
  '': [1n, 9],
  k: [1n, 12],
  M: [1n, 15],
  G: [1n, 18],
  T: [1n, 21],
  P: [1n, 24],
  E: [1n, 27],
  Ki: [2n ** 10n, 9],
  Mi: [2n ** 20n, 9],
  Gi: [2n ** 30n, 9],
  Ti: [2n ** 40n, 9],
  Pi: [2n ** 50n, 9],
  Ei: [2n ** 60n, 9],
};

/** In nano units, exactly: as floating point, 700m would be more than 0.7. Rounds up, as the API server does. */
function readNano(text: string): bigint {
  const [, whole = '0', fraction = '', suffix = ''] = /^(\d+)(?:\.(\d+))?([A-Za-z]*)$/.exec(text) ?? [];
  const [factor, exponent] = factors[suffix] ?? [0n, 0];
  const scaled = BigInt(whole + fraction) * factor * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(fraction.length);
  return (scaled + divisor - 1n) / divisor;
}

const forms: Readonly<Record<AmountType, Form>> = {
  duration: {
    pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$',
    longest: 28,
    noun: 'a duration',
    read: (text) => BigInt(parseDuration(text) ?? 0),
    cel: (text) => `duration(${text})`,
  },
  quantity: {
    pattern: `^[0-9]{1,18}(\\.[0-9]{1,${NANO_DIGITS}})?([numkMGTPE]|[KMGTPE]i)?$`,
    longest: 30,
    noun: 'a quantity',
    read: readNano,
    cel: (text) => `quantity(${text})`,
  },
  percentage: {
    pattern: '^(100|[1-9]?[0-9])%$',
    longest: 4,
    noun: 'a percentage',
    read: (text) => BigInt(text.slice(0, -1)),
    cel: (text) => `int(${text}.replace('%', ''))`,
  },
};

export const formOf = (type: AmountType): Form => forms[type];

const regExps = Object.fromEntries(
  Object.entries(forms).map(([type, { pattern }]) => [type, new RegExp(pattern)]),
);

/** The amount as an integer that compares with others of its type, or null when the text is none. */
export function readAmount(type: AmountType, text: string): bigint | null {
  return regExps[type]?.test(text) ? forms[type].read(text) : null;
}

/** In CEL, whether the amount `left` stands in this order to `right`. Both are CEL values of the type. */
export function celOrder(type: AmountType, left: string, operator: string, right: string): string {
  return type === 'quantity' ? `${left}.compareTo(${right}) ${operator} 0` : `${left} ${operator} ${right}`;
}
