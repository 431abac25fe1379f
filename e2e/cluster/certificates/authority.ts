import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { bits, boolean, type Der, integer, octets, oid, sequence, set, tagged, text, time } from './der.ts';

/** A certificate and its private key, both PEM. */
export interface Identity {
  readonly certificate: string;
  readonly key: string;
}

export interface Leaf {
  readonly commonName: string;
  /** Kubernetes reads these as the groups of a client. */
  readonly organizations?: readonly string[];
  /** Names and IPv4 addresses that a server is reached at. */
  readonly hosts?: readonly string[];
}

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const DAY_MS = 24 * 3_600_000;
const LIFETIME_MS = 30 * DAY_MS;
/** Digital signature: the first bit, so seven are unused. */
const USE_SIGNATURE = bits(Buffer.from([0x80]), 7);
/** Signing of certificates and of revocation lists: the sixth and seventh bit. */
const USE_SIGNING = bits(Buffer.from([0x06]), 1);

/** A certificate authority of one test cluster: ECDSA P-256, thirty days, held in memory. */
export class Authority {
  readonly certificate: string;
  readonly #name: Der;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  constructor(commonName: string) {
    this.#name = distinguishedName({ commonName });
    this.certificate = this.#sign(this.#name, this.#keys.publicKey, [
      extension('2.5.29.19', sequence(boolean(true)), true),
      extension('2.5.29.15', USE_SIGNING, true),
    ]);
  }

  /** For a server, a client, or both: every leaf may be used as either. */
  issue(leaf: Leaf): Identity {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const extensions = [
      extension('2.5.29.15', USE_SIGNATURE, true),
      extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'), oid('1.3.6.1.5.5.7.3.2'))),
    ];
    const { hosts = [] } = leaf;
    if (hosts.length > 0) extensions.push(extension('2.5.29.17', sequence(...hosts.map(alternativeName))));
    return {
      certificate: this.#sign(distinguishedName(leaf), publicKey, extensions),
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    };
  }

  #sign(subject: Der, publicKey: KeyObject, extensions: readonly Der[]): string {
    // An hour back, for a cluster whose test shifts a clock.
    const from = new Date(Date.now() - 3_600_000);
    const until = new Date(from.getTime() + LIFETIME_MS);
    const body = sequence(
      tagged(0, integer(Buffer.from([2])), true),
      integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
      ECDSA_WITH_SHA256,
      this.#name,
      sequence(time(from), time(until)),
      subject,
      publicKey.export({ type: 'spki', format: 'der' }),
      tagged(3, sequence(...extensions), true),
    );
    const signature = sign('sha256', body, this.#keys.privateKey);
    return pem('CERTIFICATE', sequence(body, ECDSA_WITH_SHA256, bits(signature)));
  }
}

function distinguishedName({ commonName, organizations = [] }: Leaf): Der {
  return sequence(
    ...organizations.map((name) => attribute('2.5.4.10', name)),
    attribute('2.5.4.3', commonName),
  );
}

function extension(type: string, content: Der, critical = false): Der {
  return critical
    ? sequence(oid(type), boolean(true), octets(content))
    : sequence(oid(type), octets(content));
}

function alternativeName(host: string): Der {
  return isIPv4(host)
    ? tagged(7, Buffer.from(host.split('.').map(Number)), false)
    : tagged(2, Buffer.from(host, 'ascii'), false);
}

function pem(label: string, der: Der): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

const attribute = (type: string, content: string): Der => set(sequence(oid(type), text(content)));
