import {
  createHash,
  createPrivateKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import {
  bits,
  boolean,
  type Der,
  explicit,
  implicit,
  objectId,
  octets,
  sequence,
  set,
  time,
  unsigned,
  utf8,
} from './der.ts';

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface Validity {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export interface AuthorityRequest extends Validity {
  readonly commonName: string;
}

export interface LeafRequest extends Validity {
  /** DNS names and IP addresses; at least one. The first one is the common name too, where it fits. */
  readonly names: readonly string[];
}

export interface ClientRequest extends Validity {
  readonly commonName: string;
  /** Kubernetes reads these as the groups of the user. */
  readonly organizations?: readonly string[];
}

const makeKeyPair = promisify(generateKeyPair);
const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'));
const commonNameLimit = 64;

/** A self-signed CA on P-256: the fastest curve for TLS handshakes, and one every API server knows. */
export async function createAuthority({ commonName, ...validity }: AuthorityRequest): Promise<KeyPair> {
  const { publicKey, privateKey } = await makeKeyPair('ec', { namedCurve: 'P-256' });
  const name = distinguishedName({ commonName });
  const extensions = [
    extension('2.5.29.19', true, sequence(boolean(true))), // basicConstraints: is a CA
    extension('2.5.29.15', true, bits(Buffer.from([0b0000_0110]), 1)), // keyUsage: signs certificates and CRLs
    extension('2.5.29.14', false, octets(keyId(publicKey))),
  ];
  const cert = certificate({
    subject: name,
    issuer: name,
    publicKey,
    validity,
    extensions,
    signer: privateKey,
  });
  return { cert, key: pem(privateKey) };
}

/** A server certificate signed by the authority. */
export async function issueLeaf(authority: KeyPair, { names, ...validity }: LeafRequest): Promise<KeyPair> {
  const [first] = names;
  if (first === undefined)
    throw new Error('a server certificate needs at least one name, for example spotalis.svc');
  return issue(authority, {
    validity,
    subject: distinguishedName({ commonName: first.length <= commonNameLimit ? first : 'spotalis' }),
    usage: '1.3.6.1.5.5.7.3.1', // serverAuth
    more: [extension('2.5.29.17', false, sequence(...names.map((name) => subjectAltName(name))))],
  });
}

/** A client certificate signed by the authority. */
export function issueClient(authority: KeyPair, request: ClientRequest): Promise<KeyPair> {
  const { commonName, organizations, ...validity } = request;
  return issue(authority, {
    validity,
    subject: distinguishedName({ commonName, ...(organizations && { organizations }) }),
    usage: '1.3.6.1.5.5.7.3.2', // clientAuth
    more: [],
  });
}

interface Leaf {
  readonly validity: Validity;
  readonly subject: Der;
  /** The extended key usage. */
  readonly usage: string;
  readonly more: readonly Der[];
}

async function issue(authority: KeyPair, { validity, subject, usage, more }: Leaf): Promise<KeyPair> {
  const { publicKey, privateKey } = await makeKeyPair('ec', { namedCurve: 'P-256' });
  const issuer = new X509Certificate(authority.cert);
  const extensions = [
    extension('2.5.29.19', true, sequence()), // basicConstraints: no CA
    extension('2.5.29.15', true, bits(Buffer.from([0b1000_0000]), 7)), // keyUsage: digitalSignature
    extension('2.5.29.37', false, sequence(objectId(usage))), // extendedKeyUsage
    ...more,
    extension('2.5.29.14', false, octets(keyId(publicKey))),
    extension('2.5.29.35', false, sequence(implicit(0, keyId(issuer.publicKey)))),
  ];
  const cert = certificate({
    subject,
    issuer: distinguishedName({ commonName: commonNameOf(issuer) }),
    publicKey,
    validity,
    extensions,
    signer: createPrivateKey(authority.key),
  });
  return { cert, key: pem(privateKey) };
}

interface Certificate {
  readonly subject: Der;
  readonly issuer: Der;
  readonly publicKey: KeyObject;
  readonly validity: Validity;
  readonly extensions: readonly Der[];
  readonly signer: KeyObject;
}

function certificate({ subject, issuer, publicKey, validity, extensions, signer }: Certificate): string {
  const version3 = unsigned(Buffer.from([2]));
  const signed = sequence(
    explicit(0, version3),
    unsigned(randomBytes(16)),
    ecdsaWithSha256,
    issuer,
    sequence(time(validity.notBeforeMs), time(validity.notAfterMs)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions)),
  );
  const whole = sequence(signed, ecdsaWithSha256, bits(sign('sha256', signed, signer)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const extension = (id: string, critical: boolean, value: Der): Der =>
  sequence(objectId(id), ...(critical ? [boolean(true)] : []), octets(value));

interface Name {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

function distinguishedName({ commonName, organizations = [] }: Name): Der {
  const attribute = (id: string, value: string): Der => set(sequence(objectId(id), utf8(value)));
  return sequence(
    ...organizations.map((organization) => attribute('2.5.4.10', organization)),
    attribute('2.5.4.3', commonName),
  );
}

const commonNameOf = (issuer: X509Certificate): string => /^CN=(.*)$/m.exec(issuer.subject)?.[1] ?? '';

/** SHA-1 of the public point is the customary key identifier (RFC 5280, 4.2.1.2); nothing is secured by it. */
function keyId(publicKey: KeyObject): Buffer {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const pointBytes = 65;
  return createHash('sha1').update(spki.subarray(-pointBytes)).digest();
}

function subjectAltName(name: string): Der {
  const version = isIP(name);
  return version === 0 ? implicit(2, Buffer.from(name)) : implicit(7, addressBytes(name, version === 6));
}

function addressBytes(address: string, isV6: boolean): Buffer {
  if (!isV6) return Buffer.from(address.split('.').map(Number));
  // The URL parser spells every form of an IPv6 address in one way, without an embedded IPv4 part.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Buffer.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}

const groups = (part: string): number[] =>
  part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
