/** The longest name of an object. */
const LONGEST = 253;

/** FNV-1a in 64 bits: names of one namespace need to differ, and nobody gains by making two alike. */
function hashOf(text: string): string {
  let hash = 0xcb_f2_9c_e4_84_22_23_25n;
  for (const byte of new TextEncoder().encode(text))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x1_00_00_00_01_b3n);
  return hash.toString(16).padStart(16, '0');
}

/** The name of a workload's WorkloadRecommendation, in its namespace. */
export function recommendationName({ kind, name }: { readonly kind: string; readonly name: string }): string {
  const full = `${kind.toLowerCase()}-${name}`;
  if (full.length <= LONGEST) return full;
  const hash = hashOf(full);
  // A dot or a dash must not end a part of the name.
  return `${full.slice(0, LONGEST - hash.length - 1).replace(/[-.]+$/, '')}-${hash}`;
}
