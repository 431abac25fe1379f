import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { reasonOf } from '../process/failure.ts';
import { run } from '../process/run.ts';
import { versionOf } from '../versions.ts';
import { type ProgramName, type Project, projectOf } from './programs.ts';

/** Where the projects publish what they release. */
export interface ReleaseSites {
  readonly kubernetes: string;
  readonly etcd: string;
  readonly kwok: string;
  /** KWOK publishes no file of checksums; the site it releases on knows the digest of each file. */
  readonly kwokDigests: string;
  readonly helm: string;
}

export const OFFICIAL_SITES: ReleaseSites = {
  kubernetes: 'https://dl.k8s.io/release',
  etcd: 'https://github.com/etcd-io/etcd/releases/download',
  kwok: 'https://github.com/kubernetes-sigs/kwok/releases/download',
  kwokDigests: 'https://api.github.com/repos/kubernetes-sigs/kwok/releases/tags',
  helm: 'https://get.helm.sh',
};

/** A closed network must be noticed in seconds: there is another way to get the programs. */
const CONNECT_TIMEOUT_MS = 3_000;
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;

interface Release {
  readonly url: string;
  /** The member of the archive, where it is one. */
  readonly member?: string;
  readonly checksum: () => Promise<string>;
}

/** Fetches one program, checks it against the checksum that its release publishes, and puts it in place whole. */
export async function download(
  program: ProgramName,
  target: string,
  sites: ReleaseSites = OFFICIAL_SITES,
): Promise<void> {
  const { url, member, checksum } = releaseOf(program, sites);
  const expected = await checksum();
  const content = await get(url);
  const actual = createHash('sha256').update(content).digest('hex');
  if (actual !== expected) throw new Error(`${url} has SHA-256 ${actual}, its release says ${expected}`);
  mkdirSync(dirname(target), { recursive: true });
  const work = mkdtempSync(`${target}-`);
  try {
    let file = join(work, program);
    if (member === undefined) {
      writeFileSync(file, content);
    } else {
      const archive = join(work, 'archive.tar.gz');
      writeFileSync(archive, content);
      const unpack = await run('tar', ['-xzf', archive, '-C', work, member]);
      if (!unpack.ok) throw new Error(`${url} does not unpack: ${unpack.stderr}`);
      file = join(work, member);
    }
    chmodSync(file, 0o755);
    renameSync(file, target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function releaseOf(program: ProgramName, sites: ReleaseSites): Release {
  const project = projectOf(program);
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  return RELEASES[project](sites, `v${versionOf(project)}`, arch, program);
}

type ReleaseOf = (sites: ReleaseSites, version: string, arch: string, program: ProgramName) => Release;

const RELEASES: Readonly<Record<Project, ReleaseOf>> = {
  kubernetes(sites, version, arch, program) {
    const url = `${sites.kubernetes}/${version}/bin/linux/${arch}/${program}`;
    return { url, checksum: async () => firstWord(await getText(`${url}.sha256`)) };
  },
  etcd(sites, version, arch) {
    const name = `etcd-${version}-linux-${arch}`;
    const archive = `${name}.tar.gz`;
    const checksum = async () => {
      const sums = await getText(`${sites.etcd}/${version}/SHA256SUMS`);
      const line = sums.split('\n').find((each) => each.endsWith(archive));
      return published(archive, line);
    };
    return { url: `${sites.etcd}/${version}/${archive}`, member: `${name}/etcd`, checksum };
  },
  kwok(sites, version, arch) {
    const name = `kwok-linux-${arch}`;
    const checksum = async () => {
      const release: GithubRelease = JSON.parse(await getText(`${sites.kwokDigests}/${version}`));
      const digest = release.assets?.find((asset) => asset.name === name)?.digest;
      return published(name, digest?.replace('sha256:', ''));
    };
    return { url: `${sites.kwok}/${version}/${name}`, checksum };
  },
  helm(sites, version, arch) {
    const url = `${sites.helm}/helm-${version}-linux-${arch}.tar.gz`;
    const checksum = async () => firstWord(await getText(`${url}.sha256`));
    return { url, member: `linux-${arch}/helm`, checksum };
  },
};

interface GithubRelease {
  readonly assets?: readonly { readonly name: string; readonly digest?: string }[];
}

function published(name: string, checksum: string | undefined): string {
  if (!checksum) throw new Error(`its release publishes no checksum of ${name}`);
  return firstWord(checksum);
}

const firstWord = (text: string) => text.trim().split(/\s/)[0] ?? '';

async function getText(url: string): Promise<string> {
  return (await get(url)).toString('utf8');
}

async function get(url: string): Promise<Buffer> {
  const dispatcher = new EnvHttpProxyAgent({ connect: { timeout: CONNECT_TIMEOUT_MS } });
  try {
    const response = await fetch(url, { dispatcher, signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
    if (!response.ok) throw new Error('no', { cause: `HTTP ${response.status}` });
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    // fetch() says no more than that it failed; the reason is in the cause.
    const cause = typeof error === 'object' && error !== null && 'cause' in error ? error.cause : error;
    throw new Error(`${url}: ${reasonOf(cause)}`, { cause: error });
  } finally {
    await dispatcher.destroy();
  }
}
