import { type ApiClient, ApiError, asError, type Lease, type RawObject, resource } from '@spotalis/kube';
import { ConfigurationError } from '@spotalis/runtime';
import {
  assumedSettings,
  configMaps,
  configurationKey,
  readConfiguration,
  readSettings,
  type Settings,
} from '../../cluster/configuration.ts';
import type { Session } from '../../cluster/session.ts';
import { surveyBy } from '../../cluster/take.ts';
import { lookAtDeployments, ours } from './deployments.ts';
import { lookAtRegistrations } from './registrations.ts';
import type { FoundConfiguration, LeaseState, MissingRight, Picture, ServingState } from './picture.ts';
import { type Account, missingRights } from './rights.ts';

interface RawSecret extends RawObject {
  readonly data?: Readonly<Record<string, string>>;
}

const secrets = resource<RawSecret>('v1', 'secrets', 'Secret');
const accounts = resource('v1', 'serviceaccounts', 'ServiceAccount');
const leases = resource<Lease>('coordination.k8s.io/v1', 'leases', 'Lease');
const LEASE = 'spotalis-controller';
const usualAccounts = { webhook: 'spotalis-webhook', controller: 'spotalis-controller' } as const;

/** Reads everything once. What may not be read is left out, and said in the notes. */
export async function takePicture(
  session: Session,
  signal: AbortSignal,
  now: () => number,
): Promise<{ readonly picture: Picture; readonly notes: readonly string[] }> {
  const { client, configFile } = session;
  const notes: string[] = [];
  async function allowed<T>(what: string, look: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error;
      notes.push(`${what} could not be looked at: ${error.statusMessage}`);
      return otherwise;
    }
  }
  const settings = await settingsFor(session);
  const { values } = settings;
  const [survey, named, inCluster, deployments, registrations] = await Promise.all([
    surveyBy(settings, session, signal),
    configFile === undefined ? [] : tryConfiguration({ file: configFile, namespace: null }),
    allowed('configurations', () => lookAtConfigMaps(client), []),
    allowed('Deployments of the installation', () => lookAtDeployments(client), []),
    allowed('webhook registrations', () => lookAtRegistrations(client), null),
  ]);
  const configurations = [named, inCluster].flat();
  const lease = await allowed<LeaseLook>(
    'the Lease',
    () => lookAtLease(client, values.controller.leaderElection.namespace ?? deployments.at(0)?.namespace),
    { state: { kind: 'unknown' }, namespace: undefined },
  );
  const namespace = deployments.at(0)?.namespace ?? lease.namespace;
  const [serving, rights] = await Promise.all([
    allowed<ServingState>('the certificate', () => lookAtCertificate(client, settings, namespace), {
      kind: 'unknown',
    }),
    allowed(
      'rights of the services',
      async () => rightsBy(client, await accountsOf(client, deployments, namespace), configurations),
      [],
    ),
  ]);
  return {
    notes: [...survey.notes, ...notes],
    picture: {
      nowMs: now(),
      survey,
      installation: {
        namespace,
        configurations,
        deployments,
        registrations,
        serving,
        lease: lease.state,
        rights,
      },
    },
  };
}

/** One that cannot be accepted is a finding, not the end. */
async function settingsFor({ client, configFile }: Session): Promise<Settings> {
  try {
    return await readSettings(client, configFile);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return assumedSettings(`${configFile ?? 'the configuration'} is not understood (${error.message})`);
  }
}

async function lookAtConfigMaps(client: ApiClient): Promise<readonly FoundConfiguration[]> {
  const { items } = await client.list(configMaps, { labelSelector: ours });
  const texts = items.flatMap(({ metadata: { namespace = '', name }, data }) => {
    const text = data?.[configurationKey];
    return text === undefined ? [] : [{ file: `ConfigMap ${namespace}/${name}`, text, namespace }];
  });
  return Promise.all(texts.map(tryConfiguration));
}

async function tryConfiguration({
  namespace,
  ...source
}: {
  readonly file: string;
  readonly text?: string;
  readonly namespace: string | null;
}): Promise<FoundConfiguration> {
  const found = { origin: source.file, namespace };
  try {
    return { ...found, reading: { ok: true, values: await readConfiguration(source) } };
  } catch (error) {
    const problems =
      error instanceof ConfigurationError
        ? error.problems
        : [{ key: source.file, message: asError(error).message }];
    return { ...found, reading: { ok: false, problems } };
  }
}

/**
 * What they lack of the rights that their own configuration asks for: names of objects are in it, and each
 * installation has others. Those of which there is none to be read are left out.
 */
async function rightsBy(
  client: ApiClient,
  all: readonly Account[],
  configurations: readonly FoundConfiguration[],
): Promise<readonly MissingRight[]> {
  const asked = all.map(async (account) => {
    const own =
      configurations.find(({ namespace }) => namespace === account.namespace) ??
      configurations.find(({ namespace }) => namespace === null);
    return own?.reading.ok === true ? missingRights(client, [account], own.reading.values) : [];
  });
  return (await Promise.all(asked)).flat();
}

interface LeaseLook {
  readonly state: LeaseState;
  readonly namespace: string | undefined;
}

async function lookAtLease(client: ApiClient, within: string | undefined): Promise<LeaseLook> {
  const { items } = await client.list(leases, {
    fieldSelector: `metadata.name=${LEASE}`,
    ...(within !== undefined && { namespace: within }),
  });
  const [found] = items;
  const namespace = found?.metadata.namespace ?? within;
  const name = `${namespace ?? ''}/${LEASE}`;
  if (found === undefined) {
    // Where nothing else of it is there either, another check says so.
    const state: LeaseState = within === undefined ? { kind: 'unknown' } : { kind: 'missing', name };
    return { state, namespace };
  }
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 15 } = found.spec ?? {};
  const state: LeaseState = {
    kind: 'found',
    name,
    holder: holderIdentity,
    renewedAtMs: Date.parse(renewTime) || 0,
    durationMs: leaseDurationSeconds * 1_000,
  };
  return { state, namespace };
}

/** One that was provided may be anywhere, so that only the others can be looked at. */
async function lookAtCertificate(
  client: ApiClient,
  { values, assumed }: Settings,
  own: string | undefined,
): Promise<ServingState> {
  const { mode, name, namespace = own } = values.webhook.certs;
  if (assumed || mode === 'provided' || namespace === undefined) return { kind: 'unknown' };
  const secret = `Secret ${namespace}/${name}`;
  try {
    const { data } = await client.get(secrets, { namespace, name });
    return { kind: 'found', secret, cert: Buffer.from(data?.['tls.crt'] ?? '', 'base64').toString() };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { kind: 'missing', secret };
    throw error;
  }
}

/** Those of the Deployments; where the services run elsewhere, those of the usual names. */
async function accountsOf(
  client: ApiClient,
  deployments: Picture['installation']['deployments'],
  namespace: string | undefined,
): Promise<readonly Account[]> {
  if (deployments.length > 0) {
    return deployments.flatMap(({ service, namespace: its, serviceAccount }): Account[] =>
      service === 'redis' ? [] : [{ service, namespace: its, name: serviceAccount }],
    );
  }
  if (namespace === undefined) return [];
  const { items } = await client.list(accounts, { namespace, view: 'metadata' });
  const names = new Set(items.map(({ metadata }) => metadata.name));
  return (['webhook', 'controller'] as const)
    .map((service) => ({ service, namespace, name: usualAccounts[service] }))
    .filter(({ name }) => names.has(name));
}
