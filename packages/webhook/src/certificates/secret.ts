import { type ApiClient, type RawObject, resource } from '@spotalis/kube';
import {
  type Authority,
  CertificateError,
  checkKeyPair,
  type KeyPair,
  readAuthorities,
  writeAuthorities,
} from '@spotalis/runtime';
import { NamedObject } from './named.ts';

interface RawSecret extends RawObject {
  readonly data?: Readonly<Record<string, string>> | null;
}

const secrets = resource<RawSecret>('v1', 'secrets', 'Secret');

/** Thrown when there is no Secret to share. The service does not create it: it would outlive an uninstallation. */
class SecretMissingError extends Error {
  override readonly name = 'SecretMissingError';
  readonly code = 'CERTIFICATE_SECRET_MISSING';
}

export interface SecretReference {
  readonly namespace: string;
  readonly name: string;
}

/** What the Secret held at one version of it. */
export interface StoredCertificate {
  readonly resourceVersion: string;
  /** Undefined: there is none, or none that can be served. */
  readonly pair: KeyPair | undefined;
  /** Why what is there cannot be served. */
  readonly problem: CertificateError | undefined;
  readonly authorities: readonly Authority[];
}

export interface Writing {
  readonly authorities: readonly Authority[];
  readonly pair?: KeyPair;
}

const decode = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString();
const encode = (text: string): string => Buffer.from(text).toString('base64');

/** The Secret that all replicas share: `tls.crt` and `tls.key` are served, `ca.crt` is what verifies them. */
export class CertificateSecret {
  readonly #object: NamedObject<RawSecret>;
  readonly #reference: SecretReference;

  constructor(client: ApiClient, reference: SecretReference, deadlineMs: number) {
    this.#object = new NamedObject(client, secrets, reference, deadlineMs);
    this.#reference = reference;
  }

  async read(): Promise<StoredCertificate> {
    const { data, metadata } = await this.#get();
    const pair = { cert: decode(data?.['tls.crt']), key: decode(data?.['tls.key']) };
    const problem = pair.cert === '' && pair.key === '' ? undefined : problemOf(pair);
    const usable = pair.cert !== '' && problem === undefined;
    return {
      resourceVersion: metadata.resourceVersion,
      pair: usable ? pair : undefined,
      problem,
      authorities: readAuthorities(decode(data?.['ca.crt'])),
    };
  }

  /** Refused with 409 when the Secret has changed since it was read. */
  async write(
    resourceVersion: string,
    { authorities, pair }: Writing,
    mayWrite: () => boolean,
  ): Promise<void> {
    const data = {
      'ca.crt': encode(writeAuthorities(authorities)),
      ...(pair === undefined ? {} : { 'tls.crt': encode(pair.cert), 'tls.key': encode(pair.key) }),
    };
    await this.#object.mergePatch({ metadata: { resourceVersion }, data }, mayWrite);
  }

  async #get(): Promise<RawSecret> {
    const found = await this.#object.read();
    if (found !== undefined) return found;
    const { namespace, name } = this.#reference;
    const advice = `create it empty, as the chart does: kubectl -n ${namespace} create secret generic ${name}`;
    throw new SecretMissingError(`there is no Secret ${namespace}/${name}; ${advice}`);
  }
}

function problemOf(pair: KeyPair): CertificateError | undefined {
  try {
    checkKeyPair(pair);
    return undefined;
  } catch (error) {
    if (error instanceof CertificateError) return error;
    throw error;
  }
}
