/** What the suffixes of Kubernetes quantities stand for; `1e3` is a form of its own. */
const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

const quantity = /^([-+]?(?:\d+\.?\d*|\.\d+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([-+]?\d{1,2}))?$/;

/** A Kubernetes quantity (`1500m`, `2Gi`, `1e3`) as a number of its base unit, or null when it is none. */
export function parseQuantity(text: string): number | null {
  const [, amount, suffix = '', exponent] = quantity.exec(text) ?? [];
  if (amount === undefined) return null;
  if (exponent !== undefined) return Number(`${amount}e${exponent}`);
  return Number(amount) * (factors[suffix] ?? Number.NaN);
}
