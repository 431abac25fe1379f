import { afterEach, describe, expect, it } from '@jest/globals';
import { type MountedFiles, mountFiles } from '../testing/directory.ts';
import { until } from '../testing/until.ts';
import { createAuthority, type KeyPair } from './issue.ts';
import { CertificateFiles } from './source.ts';

const filesOf = ({ cert, key }: KeyPair) => ({ 'tls.crt': cert, 'tls.key': key });
const make = (commonName: string): Promise<KeyPair> =>
  createAuthority({ commonName, notBeforeMs: Date.now(), notAfterMs: Date.now() + 3_600_000 });

let mounted: MountedFiles;
let files: CertificateFiles;

afterEach(async () => {
  await files.stop();
  await mounted.remove();
});

function follow() {
  const heard: string[] = [];
  files = new CertificateFiles({
    directory: mounted.path,
    rejected: ({ code }) => heard.push(code),
    loaded: () => heard.push('loaded'),
    pollMs: 20,
  });
  return heard;
}

describe('certificate files', () => {
  it('that change are taken over, and told to who listens', async () => {
    const [first, second] = await Promise.all([make('first'), make('second')]);
    mounted = await mountFiles(filesOf(first));
    const heard = follow();
    await files.start();
    expect(files.current()).toEqual(first);
    const served: KeyPair[] = [];
    files.subscribe((pair) => served.push(pair));
    await mounted.swap(filesOf(second));
    await until('the new pair', () => served.length > 0);
    expect(served).toEqual([second]);
    expect(heard).toEqual(['loaded', 'loaded']);
  });

  it('that do not fit together or are gone leave the old pair in use', async () => {
    const [first, second] = await Promise.all([make('first'), make('second')]);
    mounted = await mountFiles(filesOf(first));
    const heard = follow();
    await files.start();
    await mounted.swap({ 'tls.crt': second.cert, 'tls.key': first.key });
    await until('the mismatch', () => heard.includes('CERTIFICATE_KEY_MISMATCH'));
    await mounted.swap({ 'tls.crt': second.cert });
    await until('the loss', () => heard.includes('CERTIFICATE_UNREADABLE'));
    expect(files.current()).toEqual(first);
    await mounted.swap(filesOf(second));
    await until('the repair', () => heard.at(-1) === 'loaded');
    expect(files.current()).toEqual(second);
  });

  it('that are missing at the start are named', async () => {
    mounted = await mountFiles({});
    follow();
    await expect(files.start()).rejects.toThrow(
      `${mounted.path}/tls.crt cannot be read (ENOENT); mount a Secret`,
    );
  });
});
