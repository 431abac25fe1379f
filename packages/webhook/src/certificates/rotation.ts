import type { Authority } from '@spotalis/runtime';

/** What decides about an authority; its PEM is only carried along. */
export type Trust = Pick<Authority, 'fingerprint' | 'notAfterMs'>;

/** The certificate in the Secret. */
export interface StoredLeaf {
  /** Fingerprint of the authority that signed it; undefined when no known one did. */
  readonly authority: string | undefined;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** It is good for every name that is asked for. */
  readonly fits: boolean;
}

/** A certificate that waits in the memory of one replica until everybody can verify it. */
export interface Staged<A extends Trust> {
  readonly authority: A;
  readonly leaf: StoredLeaf;
  /** How long this replica has seen its authority registered without a break; undefined: it is not. */
  readonly trustedForMs: number | undefined;
}

/** What one replica sees at one look. */
export interface Look<A extends Trust> {
  /** In the Secret. Undefined: no certificate there, or none that can be served. */
  readonly leaf: StoredLeaf | undefined;
  readonly authorities: readonly A[];
  /** In the `caBundle` that the API server verifies us by; undefined: we are not registered. */
  readonly registered: readonly A[] | undefined;
  /** This replica serves a certificate. */
  readonly serving: boolean;
  readonly staged: Staged<A> | undefined;
}

export interface Terms {
  /** An API server has noticed a changed registration after this long. */
  readonly settleMs: number;
  /** Clocks of two machines differ by less. */
  readonly skewMs: number;
}

export type Step<A extends Trust> =
  /** Forget the staged certificate: it is not needed any more. */
  | { readonly kind: 'discard' }
  /** Make a certificate, and keep it in memory. */
  | { readonly kind: 'issue' }
  /** Write the authorities into the Secret, so that a registration that was reset can be mended from it. */
  | { readonly kind: 'store'; readonly authorities: readonly A[] }
  /** Write them into the registration. */
  | { readonly kind: 'register'; readonly authorities: readonly A[] }
  /** Write the staged certificate into the Secret: from now on every replica serves it. */
  | { readonly kind: 'promote'; readonly authorities: readonly A[] }
  /** Nothing to do, at the latest until then. */
  | { readonly kind: 'wait'; readonly forMs: number };

/** A Secret that somebody empties again and again must not grow the bundle without end. */
const mostAuthorities = 16;

/**
 * The next step of a rotation. The law it holds, whoever else acts at the same time and whatever is lost on the
 * way: the registered authorities verify every certificate that is served. Because
 *
 * - a certificate gets into the Secret only after its authority has been registered for long enough, or when no
 *   other can be verified anyway;
 * - an authority leaves only after it has ended, and its one certificate with it;
 * - every write is refused if what it was decided by has changed since.
 *
 * So nobody has to know which replica serves what, and the Lease only saves double work.
 */
export function nextStep<A extends Trust>(look: Look<A>, terms: Terms, nowMs: number): Step<A> {
  const { leaf, registered, staged } = look;
  const due = isDue(leaf, nowMs);
  if (staged !== undefined && (!due || isDue(staged.leaf, nowMs))) return { kind: 'discard' };
  if (staged === undefined && due) return { kind: 'issue' };
  const authorities = wanted(look, terms, nowMs);
  if (!isSame(look.authorities, authorities)) return { kind: 'store', authorities };
  if (registered !== undefined && !isSame(registered, authorities)) return { kind: 'register', authorities };
  if (staged === undefined) return { kind: 'wait', forMs: Number.POSITIVE_INFINITY };
  const missingMs = settlesIn(look, staged, terms);
  return missingMs > 0 ? { kind: 'wait', forMs: missingMs } : { kind: 'promote', authorities };
}

/** Whether a replica goes over to the certificate in the Secret. */
export function shouldServe<A extends Trust>({ leaf, registered, serving }: Look<A>): boolean {
  if (leaf === undefined) return false;
  if (!serving || registered === undefined) return true;
  return registered.some(({ fingerprint }) => fingerprint === leaf.authority);
}

/** When two thirds of its life are over, or it has not begun: then a clock ran ahead by more than it was back-dated. */
function isDue(leaf: StoredLeaf | undefined, nowMs: number): boolean {
  if (leaf?.authority === undefined || !leaf.fits || leaf.notBeforeMs > nowMs) return true;
  return nowMs >= leaf.notAfterMs - (leaf.notAfterMs - leaf.notBeforeMs) / 3;
}

/** All that anybody may still serve by. What neither the Secret nor the registration names was taken away on purpose. */
function wanted<A extends Trust>(look: Look<A>, { skewMs }: Terms, nowMs: number): readonly A[] {
  const known = [
    ...look.authorities,
    ...(look.registered ?? []),
    ...(look.staged === undefined ? [] : [look.staged.authority]),
  ];
  return [...new Map(known.map((authority) => [authority.fingerprint, authority])).values()]
    .filter(({ notAfterMs }) => notAfterMs + skewMs > nowMs)
    .toSorted((one, other) => other.notAfterMs - one.notAfterMs)
    .slice(0, mostAuthorities);
}

function settlesIn<A extends Trust>(
  { registered }: Look<A>,
  { trustedForMs = 0 }: Staged<A>,
  { settleMs }: Terms,
): number {
  // Before the registration names anybody else, no other certificate can be in use.
  if (registered === undefined || registered.length === 1) return 0;
  return settleMs - trustedForMs;
}

const isSame = (one: readonly Trust[], other: readonly Trust[]): boolean =>
  one.length === other.length &&
  one.every(({ fingerprint }) => other.some((each) => each.fingerprint === fingerprint));
