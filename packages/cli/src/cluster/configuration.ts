import {
  type Configuration,
  type NodeLabels,
  type PolicyDefaults,
  policyDefaults,
  readCapacity,
  readClusterWindow,
  rebalanceSettings,
  type RebalanceSettings,
  settings as declared,
} from '@spotalis/core';
import { type ApiClient, asError, type RawObject, resource } from '@spotalis/kube';
import { accepted, loadConfiguration } from '@spotalis/runtime';

interface RawConfigMap extends RawObject {
  readonly metadata: RawObject['metadata'] & {
    readonly managedFields?: readonly { readonly time?: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
}

export const configMaps = resource<RawConfigMap>('v1', 'configmaps', 'ConfigMap');
const selector = 'app.kubernetes.io/name=spotalis,app.kubernetes.io/component=controller';
/** Of a ConfigMap: the configuration file. */
export const configurationKey = 'spotalis.yaml';

/** What the services go by. */
export interface Settings {
  readonly values: Configuration;
  readonly nodeLabels: NodeLabels;
  readonly rebalance: RebalanceSettings;
  readonly defaults: PolicyDefaults;
  /** There was none to be read, so these are the defaults. */
  readonly assumed: boolean;
  /** Where it was read, for people. */
  readonly origin: string;
  /** Since when it is as it is; null where no ConfigMap says so. */
  readonly writtenAtMs: number | null;
  /** The namespace of the installation; undefined where the ConfigMap was not read. */
  readonly home: string | undefined;
  /** Pods of other namespaces are on the nodes, too, and not seen: no room counts but what a placeholder holds. */
  readonly onlyProven: boolean;
  /** What people have to know about it. */
  readonly notes: readonly string[];
}

interface Found {
  readonly assumed?: boolean;
  readonly values: Configuration;
  readonly origin: string;
  readonly writtenAtMs?: number | null;
  readonly home?: string;
  readonly notes: readonly string[];
}

/** A configuration has to name a Redis, which this program does not need. */
const withoutRedis = { SPOTALIS_REDIS_URL: 'memory://' };

const assumed = async (why: string): Promise<Found> => ({
  values: (await loadConfiguration(declared, { environment: withoutRedis })).values,
  origin: 'defaults',
  assumed: true,
  notes: [`${why}; the defaults of the configuration are assumed. Name the file with --config.`],
});

/** As the services read it, by all their rules. Throws a ConfigurationError. */
export async function readConfiguration(source: {
  readonly file: string;
  readonly text?: string;
}): Promise<Configuration> {
  return (await loadConfiguration(declared, { ...source, environment: {} })).values;
}

async function find(client: ApiClient, file: string | undefined): Promise<Found> {
  if (file !== undefined) {
    const values = await readConfiguration({ file });
    return { values, origin: file, notes: [] };
  }
  let maps: readonly RawConfigMap[];
  try {
    ({ items: maps } = await client.list(configMaps, { labelSelector: selector }));
  } catch (error) {
    return assumed(`the ConfigMap of the installation cannot be read (${asError(error).message})`);
  }
  const [first, ...others] = maps.filter(({ data }) => data?.[configurationKey] !== undefined);
  if (first === undefined) return assumed('no ConfigMap of an installation was found');
  const { namespace = '', name } = first.metadata;
  const origin = `ConfigMap ${namespace}/${name}`;
  const notes =
    others.length === 0 ? [] : [`there are ${others.length + 1} installations; ${origin} was read`];
  try {
    const values = await readConfiguration({ file: origin, text: first.data?.[configurationKey] ?? '' });
    const times = first.metadata.managedFields?.map(({ time = '' }) => Date.parse(time) || 0) ?? [];
    const writtenAtMs = times.length === 0 ? null : Math.max(...times);
    return { values, origin, writtenAtMs, home: namespace, notes };
  } catch (error) {
    return assumed(`${origin} is not understood (${asError(error).message})`);
  }
}

/** The configuration that the services of this cluster run with, as far as it can be read. */
export async function readSettings(client: ApiClient, file: string | undefined): Promise<Settings> {
  return settingsOf(await find(client, file));
}

/** For who has to go on although the configuration cannot be accepted. */
export async function assumedSettings(why: string): Promise<Settings> {
  return settingsOf(await assumed(why));
}

function settingsOf({
  values,
  origin,
  writtenAtMs = null,
  home,
  notes,
  assumed: isAssumed = false,
}: Found): Settings {
  const { nodeLabels, placement } = accepted(readCapacity(values));
  const { rebalance, fallback, scope } = values;
  return {
    values,
    assumed: isAssumed,
    nodeLabels,
    defaults: policyDefaults(values),
    origin,
    writtenAtMs,
    home,
    onlyProven: scope.namespaces.length > 0 && fallback.probe === 'placeholder',
    notes,
    rebalance: rebalanceSettings(values, { window: accepted(readClusterWindow(rebalance)), placement }),
  };
}
