import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freePort } from '../process/ports.ts';
import { run } from '../process/run.ts';
import { VERSIONS } from '../versions.ts';
import { download, type ReleaseSites } from './download.ts';

const arch = process.arch === 'x64' ? 'amd64' : process.arch;
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

describe('the download of a release', () => {
  const files = new Map<string, string | Buffer>();
  const server = createServer((request, response) => {
    const content = files.get(request.url ?? '');
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
  let sites: ReleaseSites;
  let dir: string;
  beforeEach(async () => {
    const port = await freePort();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const site = `http://127.0.0.1:${port}`;
    sites = {
      kubernetes: `${site}/k`,
      etcd: `${site}/e`,
      kwok: `${site}/w`,
      kwokDigests: `${site}/d`,
      helm: `${site}/h`,
    };
    dir = mkdtempSync(join(tmpdir(), 'download-'));
  });
  afterEach(async () => {
    files.clear();
    rmSync(dir, { recursive: true });
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  /** Everything that the download left. */
  const left = () =>
    readdirSync(dir).map((name) => {
      const file = join(dir, name);
      return { name, content: readFileSync(file, 'utf8'), runs: (statSync(file).mode & 0o111) === 0o111 };
    });

  it('takes a Kubernetes program whose checksum is the one beside it', async () => {
    const path = `/k/v${VERSIONS.kubernetes}/bin/linux/${arch}/kube-scheduler`;
    files.set(path, 'program').set(`${path}.sha256`, `${sha256('program')}\n`);
    await download('kube-scheduler', join(dir, 'kube-scheduler'), sites);
    expect(left()).toEqual([{ name: 'kube-scheduler', content: 'program', runs: true }]);
  });

  it('refuses one whose checksum is another, and leaves nothing', async () => {
    const path = `/k/v${VERSIONS.kubernetes}/bin/linux/${arch}/kube-scheduler`;
    files.set(path, 'tampered').set(`${path}.sha256`, sha256('program'));
    const target = join(dir, 'kube-scheduler');
    await expect(download('kube-scheduler', target, sites)).rejects.toThrow(
      `its release says ${sha256('program')}`,
    );
    expect(readdirSync(dir)).toEqual([]);
  });

  it('takes etcd out of its archive', async () => {
    const name = `etcd-v${VERSIONS.etcd}-linux-${arch}`;
    mkdirSync(join(dir, 'make', name), { recursive: true });
    writeFileSync(join(dir, 'make', name, 'etcd'), 'program');
    await run('tar', ['-czf', join(dir, 'archive'), '-C', join(dir, 'make'), name]);
    const archive = readFileSync(join(dir, 'archive'));
    rmSync(join(dir, 'make'), { recursive: true });
    rmSync(join(dir, 'archive'));
    files.set(`/e/v${VERSIONS.etcd}/${name}.tar.gz`, archive);
    files.set(
      `/e/v${VERSIONS.etcd}/SHA256SUMS`,
      `${sha256('other')}  other.zip\n${sha256(archive)}  ${name}.tar.gz\n`,
    );
    await download('etcd', join(dir, 'etcd'), sites);
    expect(left()).toEqual([{ name: 'etcd', content: 'program', runs: true }]);
  });

  it('takes KWOK by the digest that its release site gives', async () => {
    const name = `kwok-linux-${arch}`;
    files.set(`/w/v${VERSIONS.kwok}/${name}`, 'program');
    files.set(
      `/d/v${VERSIONS.kwok}`,
      JSON.stringify({ assets: [{ name, digest: `sha256:${sha256('program')}` }] }),
    );
    await download('kwok', join(dir, 'kwok'), sites);
    expect(left()).toEqual([{ name: 'kwok', content: 'program', runs: true }]);
  });

  it('refuses what has no published checksum', async () => {
    files.set(`/w/v${VERSIONS.kwok}/kwok-linux-${arch}`, 'program');
    files.set(`/d/v${VERSIONS.kwok}`, '{}');
    await expect(download('kwok', join(dir, 'kwok'), sites)).rejects.toThrow('publishes no checksum');
    expect(existsSync(join(dir, 'kwok'))).toBe(false);
  });

  it('says which address did not answer', async () => {
    const closed = { ...sites, kubernetes: `http://127.0.0.1:${await freePort()}` };
    await expect(download('kube-scheduler', join(dir, 'x'), closed)).rejects.toThrow(
      /kube-scheduler\.sha256: .*ECONNREFUSED/,
    );
    await expect(download('kube-scheduler', join(dir, 'x'), sites)).rejects.toThrow('HTTP 404');
  });
});
