/** @needs helm */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chartDir, Helm, type KubeObject, type Values } from '@spotalis/cluster';
import { stringify } from 'yaml';

const release = { name: 'spotalis', namespace: 'spotalis-system' };
// Given, because a random one never is the same.
const redis = { password: 'given' };

/**
 * What people install, by what they write. Each is shown as what it changes of the defaults. After a change that is
 * meant, `jest --selectProjects real --testPathPatterns charts/snapshots -u` writes them anew, to be read and committed.
 */
const sets: Readonly<Record<string, Values>> = {
  'an autoscaler, and no way out': {
    redis,
    webhook: { autoscaling: { enabled: true }, networkPolicy: { egress: { enabled: true } } },
    controller: { networkPolicy: { egress: { enabled: true } } },
  },
  'a Redis of their own, with TLS and a password': {
    redis: { enabled: false },
    global: {
      redisSecret: { name: 'my-redis', caKey: 'ca.crt' },
      config: { redis: { url: 'rediss://redis.example:6380', username: 'spotalis' } },
    },
  },
  'one webhook that keeps the ledger itself': {
    redis: { enabled: false },
    webhook: { replicas: 1 },
    global: { config: { redis: { url: 'memory://' } } },
  },
  'certificates of cert-manager, in some namespaces': {
    redis,
    global: {
      config: {
        webhook: { certs: { mode: 'cert-manager' } },
        scope: { namespaceSelector: { matchLabels: { team: 'web' } } },
      },
    },
  },
  'workloads in two namespaces alone': {
    redis,
    global: { config: { scope: { namespaces: ['shop', 'bank'] } } },
  },
};

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata?.name}`;

/** One line a value, by its path; a configuration file inside of an object is read line by line. */
function linesOf(objects: readonly KubeObject[]): string[] {
  const walk = (path: string, value: unknown): string[] => {
    if (typeof value === 'string' && value.includes('\n'))
      return value.split('\n').map((line) => `${path} | ${line}`);
    if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
      return [`${path}: ${JSON.stringify(value)}`];
    return Object.entries(value).flatMap(([key, inner]) =>
      walk(Array.isArray(value) ? `${path}[]` : `${path}.${key}`, inner),
    );
  };
  return objects.flatMap((object) => {
    const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
    const { annotations, namespace = release.namespace } = metadata ?? {};
    const place = namespace === release.namespace ? '' : `${namespace}/`;
    const name = nameOf({ ...object, metadata: { ...metadata, name: `${place}${metadata?.name}` } });
    // A checksum says only that something else changed.
    return [name, ...walk(name, { ...rest, ...(annotations && { annotations }) })].filter(
      (line) => !line.includes('checksum/'),
    );
  });
}

function changes(before: readonly KubeObject[], after: readonly KubeObject[]): string {
  const [was, is] = [linesOf(before), linesOf(after)];
  const [known, left] = [new Set(was), new Set(is)];
  return [
    ...was.filter((line) => !left.has(line)).map((line) => `- ${line}`),
    ...is.filter((line) => !known.has(line)).map((line) => `+ ${line}`),
  ].join('\n');
}

describe('the rendered chart', () => {
  let helm: Helm;
  let defaults: readonly KubeObject[];
  beforeAll(async () => {
    helm = await Helm.prepare();
    defaults = await helm.template(release, chartDir(), { redis });
  }, 900_000);
  afterAll(() => helm?.dispose());

  it('is this, with the defaults', () => {
    // Its rules have tests of their own, and are long.
    const shown = defaults.filter(({ kind }) => kind !== 'ValidatingAdmissionPolicy');
    expect(shown.map((object) => stringify(object, { lineWidth: 0 })).join('---\n')).toMatchSnapshot();
  });

  it.each(Object.entries(sets))('is changed by %s like this', async (_, values) => {
    expect(changes(defaults, await helm.template(release, chartDir(), values))).toMatchSnapshot();
  });
});
