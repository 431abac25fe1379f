import { accessSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { asError, ConfigurationError } from '../errors.ts';

const IN_CLUSTER_TOKEN = 'var/run/secrets/kubernetes.io/serviceaccount/token';

/** Where to look. Without anything: KUBECONFIG, then ~/.kube/config, then the pod's ServiceAccount. */
export interface KubeconfigSource {
  /** Path of one kubeconfig file. */
  readonly path?: string;
  /** Name of a context; default is the file's current-context. */
  readonly context?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory?: string;
  /** Stands before /var/run/secrets/...; `/` outside tests. */
  readonly root?: string;
}

/** Finds and validates the configuration. Everything that can be wrong is one ConfigurationError here. */
export function loadKubeconfig(source: KubeconfigSource = {}): KubeConfig {
  const environment = source.environment ?? process.env;
  const files = filesOf(source, environment);
  const config = files.length > 0 ? merge(files) : inCluster(source, environment);
  if (source.context !== undefined) {
    config.setCurrentContext(source.context);
  }
  validate(config, files.length > 0 ? files.join(', ') : 'the in-cluster configuration');
  return config;
}

function filesOf(
  source: KubeconfigSource,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  if (source.path !== undefined) {
    return [source.path];
  }
  const listed = (environment['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  if (listed.length > 0) {
    return listed;
  }
  const fallback = join(source.homeDirectory ?? homedir(), '.kube', 'config');
  return exists(fallback) ? [fallback] : [];
}

function inCluster(
  source: KubeconfigSource,
  environment: Readonly<Record<string, string | undefined>>,
): KubeConfig {
  const root = source.root ?? '/';
  if (!environment['KUBERNETES_SERVICE_HOST'] || !exists(join(root, IN_CLUSTER_TOKEN))) {
    throw new ConfigurationError(
      'no API server configured: KUBECONFIG is not set, ~/.kube/config does not exist, and this is not a pod ' +
        'with a ServiceAccount token. Set KUBECONFIG=/path/to/kubeconfig, or run in a cluster.',
    );
  }
  const config = new KubeConfig();
  config.loadFromCluster(root === '/' ? '' : root);
  return config;
}

/** As kubectl does: of entries with the same name the first file's wins, and so does the first current-context. */
function merge(files: readonly string[]): KubeConfig {
  const loaded = files.map(loadFile);
  const merged = new KubeConfig();
  merged.loadFromOptions({
    clusters: firstOfEachName(loaded.flatMap((config) => config.clusters)),
    users: firstOfEachName(loaded.flatMap((config) => config.users)),
    contexts: firstOfEachName(loaded.flatMap((config) => config.contexts)),
    currentContext: loaded.map((config) => config.currentContext).find(Boolean) ?? '',
  });
  return merged;
}

function firstOfEachName<T extends { readonly name: string }>(entries: readonly T[]): T[] {
  const seen = new Map<string, T>();
  for (const entry of entries) {
    if (!seen.has(entry.name)) {
      seen.set(entry.name, entry);
    }
  }
  return [...seen.values()];
}

function loadFile(file: string): KubeConfig {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    const cause = asError(thrown);
    throw new ConfigurationError(`cannot read the kubeconfig ${file}: ${cause.message}`, { cause });
  }
  try {
    const document: unknown = parse(text);
    if (typeof document !== 'object' || document === null || !('clusters' in document)) {
      throw new TypeError('it has no "clusters"');
    }
    const config = new KubeConfig();
    config.loadFromString(JSON.stringify(withTokenFiles(document, dirname(file))));
    config.makePathsAbsolute(dirname(file));
    return config;
  } catch (thrown) {
    const cause = asError(thrown);
    // A YAML parser goes on to draw the place.
    const [what = ''] = cause.message.split(/:?\n/);
    throw new ConfigurationError(`${file} is not a valid kubeconfig: ${what}`, { cause });
  }
}

interface RawUser {
  readonly name?: unknown;
  readonly user?: {
    readonly tokenFile?: string;
    readonly token?: undefined;
    readonly 'auth-provider'?: unknown;
  };
}

/**
 * client-node reads `token-file` once and never again; the real key is `tokenFile`, and such files rotate. Its
 * own tokenFile provider, made for in-cluster use, does what is wanted. As in client-go the file beats `token`.
 */
function withTokenFiles(document: object, directory: string): object {
  const users: unknown = 'users' in document ? document.users : undefined;
  if (!Array.isArray(users)) {
    return document;
  }
  return { ...document, users: users.map((entry: RawUser) => withTokenFile(entry, directory)) };
}

function withTokenFile(entry: RawUser, directory: string): RawUser {
  const tokenFile = entry?.user?.tokenFile;
  if (tokenFile === undefined) {
    return entry;
  }
  const path = isAbsolute(tokenFile) ? tokenFile : join(directory, tokenFile);
  const provider = { name: 'tokenFile', config: { tokenFile: path } };
  return { ...entry, user: { ...entry.user, token: undefined, 'auth-provider': provider } };
}

function validate(config: KubeConfig, origin: string): void {
  const names = config
    .getContexts()
    .map((context) => context.name)
    .join(', ');
  if (!config.getCurrentContext()) {
    throw new ConfigurationError(`${origin}: current-context is not set; contexts there: ${names || 'none'}`);
  }
  if (config.getContextObject(config.getCurrentContext()) === null) {
    throw new ConfigurationError(
      `${origin}: context "${config.getCurrentContext()}" does not exist; contexts there: ${names || 'none'}`,
    );
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new ConfigurationError(
      `${origin}: context "${config.getCurrentContext()}" names a cluster that is not there`,
    );
  }
  if (!URL.canParse(cluster.server) || !/^https?:$/.test(new URL(cluster.server).protocol)) {
    throw new ConfigurationError(
      `${origin}: server "${cluster.server}" of cluster "${cluster.name}" is not a URL such as https://10.0.0.1:6443`,
    );
  }
  if (config.getCurrentUser() === null) {
    throw new ConfigurationError(
      `${origin}: context "${config.getCurrentContext()}" names a user that is not there`,
    );
  }
  if (cluster.proxyUrl?.startsWith('socks')) {
    throw new ConfigurationError(
      `${origin}: proxy-url "${cluster.proxyUrl}" is a SOCKS proxy; only http://host:port and https://host:port work`,
    );
  }
}

function exists(file: string): boolean {
  try {
    accessSync(file);
    return true;
  } catch {
    return false;
  }
}
