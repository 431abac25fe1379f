import { beforeAll, describe, expect, it } from '@jest/globals';
import { plain } from '@spotalis/units';
import { createAuthority, issueServing, type ServingCertificate } from '@spotalis/runtime';
import { newsOf, noNews } from '../cluster/droughts.ts';
import { ask, drought, NOON, pdb, podsOf } from '../testing/scene.ts';
import { examine } from './catalogue.ts';
import { findingsText } from './doctor.ts';
import type { Severity } from './finding.ts';
import { type FindingId, known } from './known.ts';
import {
  controllerDeployment,
  type Fault,
  pictureOf,
  redisDeployment,
  registration,
  webhookDeployment,
} from './testing/picture.ts';

const DAY_MS = 86_400_000;
const numbers = { spotPercentage: 70, minOnDemand: 2 };
const healthy = podsOf(7, 3, numbers);

let serving: ServingCertificate;
let certificates: { caBundle: string; cert: string };
let stranger: string;

beforeAll(async () => {
  const validity = { notBeforeMs: NOON - DAY_MS, notAfterMs: NOON + 89 * DAY_MS };
  serving = await issueServing(['spotalis-webhook.spotalis-system.svc'], validity);
  certificates = { caBundle: serving.authority.cert, cert: serving.pair.cert };
  ({ cert: stranger } = await createAuthority({ commonName: 'somebody else', ...validity }));
});

const found = async (fault: Fault) => examine(await pictureOf(fault, certificates));

const registered = (more: Partial<typeof registration>): Fault => ({
  installation: { registrations: [{ ...registration, caBundle: serving.authority.cert, ...more }] },
});

const served = async (notBeforeMs: number, notAfterMs: number): Promise<Fault> => {
  const { pair, authority } = await issueServing(['localhost'], { notBeforeMs, notAfterMs });
  return {
    installation: {
      registrations: [{ ...registration, caBundle: authority.cert }],
      serving: { kind: 'found', secret: 'Secret a/b', cert: pair.cert },
    },
  };
};

const off = { modules: { distribution: { enabled: false } } };
const lease = { kind: 'found', name: 'a/b', holder: 'one', renewedAtMs: NOON, durationMs: 15_000 } as const;
const annotated = (more: Record<string, string>): Fault => ({
  scene: { annotations: { ...ask(70, 2), ...more } },
});
const pinned = (type: string) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: [type] }] },
        ],
      },
    },
  },
});
const nothingThere = {
  namespace: undefined,
  configurations: [],
  deployments: [],
  registrations: [],
  serving: { kind: 'unknown' },
  lease: { kind: 'unknown' },
} as const;

/** What was planted, what is found of it, how grave it is, and a word that it has to say. */
const faults: readonly (readonly [string, () => Fault | Promise<Fault>, FindingId, Severity, string])[] = [
  [
    'no installation',
    () => ({ installation: nothingThere }),
    'installation-missing',
    'error',
    'docs/install.md',
  ],
  [
    'a registration taken away',
    () => ({ installation: { registrations: [] } }),
    'registration-missing',
    'error',
    'spotalis',
  ],
  [
    'a second installation over the same namespaces',
    () => ({
      installation: {
        registrations: ['spotalis', 'other'].map((name) => ({
          ...registration,
          caBundle: serving.authority.cert,
          name,
        })),
      },
    }),
    'installations-overlap',
    'error',
    'namespace shop',
  ],
  ['an empty caBundle', () => registered({ caBundle: '' }), 'ca-bundle-empty', 'error', 'empty'],
  [
    'a caBundle of somebody else',
    () => registered({ caBundle: stranger }),
    'ca-bundle-wrong',
    'error',
    'Secret',
  ],
  [
    'a certificate that has expired',
    () => served(NOON - 90 * DAY_MS, NOON - DAY_MS),
    'certificate-expired',
    'error',
    '24h ago',
  ],
  [
    'a certificate near its end',
    () => served(NOON - 89 * DAY_MS, NOON + DAY_MS),
    'certificate-expiring',
    'warning',
    'in 24h',
  ],
  [
    'a Secret without a certificate',
    () => ({ installation: { serving: { kind: 'found', secret: 'Secret a/b', cert: '' } } }),
    'certificate-missing',
    'error',
    'Secret a/b',
  ],
  ['failurePolicy Fail', () => registered({ failurePolicy: 'Fail' }), 'failure-policy', 'error', 'Ignore'],
  ['a long timeout', () => registered({ timeoutSeconds: 10 }), 'registration-timeout', 'warning', '10'],
  [
    'a timeout below the decision',
    () => registered({ timeoutSeconds: 1 }),
    'decision-timeout',
    'error',
    '1500ms',
  ],
  [
    'a selector that includes everything',
    () => registered({ namespaceSelector: {} }),
    'namespace-selector',
    'warning',
    'without the label',
  ],
  [
    'a selector that leaves a namespace out',
    () => registered({ namespaceSelector: { matchLabels: { team: 'a' } } }),
    'namespace-selector',
    'error',
    'leaves out namespace shop',
  ],
  [
    'no endpoint',
    () => registered({ service: { namespace: 'a', name: 'b', readyEndpoints: 0 } }),
    'endpoint-missing',
    'error',
    'Service a/b',
  ],
  [
    'a webhook replica that is not ready',
    () => ({
      installation: { deployments: [{ ...webhookDeployment, readyReplicas: 2 }, controllerDeployment] },
    }),
    'replicas-missing',
    'warning',
    '2 of 3',
  ],
  [
    'controllers scaled to nothing',
    () => ({
      installation: {
        deployments: [webhookDeployment, { ...controllerDeployment, replicas: 0, readyReplicas: 0 }],
      },
    }),
    'replicas-missing',
    'error',
    'controller',
  ],
  [
    'the Redis of the chart away',
    () => ({ installation: { deployments: [{ ...redisDeployment, readyReplicas: 0 }] } }),
    'replicas-missing',
    'error',
    '0 of 1 replicas of the redis',
  ],
  [
    'an older controller',
    () => ({
      installation: {
        deployments: [
          webhookDeployment,
          { ...controllerDeployment, image: 'example.com:5000/controller:1.2.2' },
        ],
      },
    }),
    'version-skew',
    'warning',
    '1.2.2',
  ],
  [
    'no leader',
    () => ({ installation: { lease: { ...lease, holder: '' } } }),
    'leader-missing',
    'error',
    'no controller',
  ],
  [
    'a Lease that nobody renews',
    () => ({ installation: { lease: { ...lease, renewedAtMs: NOON - 60_000 } } }),
    'lease-stale',
    'error',
    '60s ago',
  ],
  [
    'no Lease',
    () => ({ installation: { lease: { kind: 'missing', name: 'a/b' } } }),
    'lease-missing',
    'error',
    'Lease a/b',
  ],
  [
    'a right taken away',
    () => ({
      installation: {
        rights: [{ account: 'a/controller', what: 'create pods/eviction', namespace: undefined }],
      },
    }),
    'rights-missing',
    'error',
    'create pods/eviction',
  ],
  [
    'a configuration with a mistake',
    () => ({
      installation: {
        configurations: [
          {
            origin: 'ConfigMap a/b',
            namespace: 'a',
            reading: { ok: false, problems: [{ key: 'redis', message: 'none is set' }] },
          },
        ],
      },
    }),
    'configuration-invalid',
    'error',
    'none is set',
  ],
  [
    'a ledger inside each of three webhooks',
    () => ({ scene: { configuration: { redis: { url: 'memory://' } } } }),
    'ledger-not-shared',
    'error',
    '3 webhooks',
  ],
  [
    'distribution that is off',
    () => ({ scene: { configuration: off } }),
    'distribution-off',
    'warning',
    'modules.distribution.enabled is false',
  ],
  [
    'read-only mode',
    () => ({ scene: { configuration: { readOnlyMode: true } } }),
    'read-only',
    'warning',
    'readOnlyMode',
  ],
  [
    'nodes without labels',
    () => ({ scene: { nodes: { a: {}, b: {} } } }),
    'node-labels-absent',
    'error',
    'capacity-type',
  ],
  [
    'spot nodes only',
    () => ({
      scene: { pods: podsOf(10, 0, numbers), nodes: { 'spot-1': { 'karpenter.sh/capacity-type': 'spot' } } },
    }),
    'node-type-absent',
    'warning',
    'on-demand',
  ],
  [
    'a node of neither type',
    () => ({
      scene: {
        nodes: {
          'spot-1': { 'karpenter.sh/capacity-type': 'spot' },
          'od-1': { 'karpenter.sh/capacity-type': 'on-demand' },
          control: {},
        },
      },
    }),
    'nodes-untyped',
    'info',
    'control',
  ],
  [
    'a number that is none',
    () => annotated({ 'spotalis.io/spot-percentage': '170' }),
    'policy-invalid',
    'error',
    '170',
  ],
  [
    'a schedule that never opens',
    () =>
      annotated({ 'spotalis.io/disruption-schedule': '0 0 30 2 *', 'spotalis.io/disruption-duration': '1h' }),
    'policy-invalid',
    'warning',
    '0 0 30 2 *',
  ],
  [
    'a mistyped key',
    () => annotated({ 'spotalis.io/spot-precentage': '70' }),
    'policy-key-unknown',
    'warning',
    'spotalis.io/spot-percentage',
  ],
  [
    'labels without a number',
    () => ({ scene: { annotations: {} } }),
    'policy-missing',
    'warning',
    'spot-percentage',
  ],
  [
    'a mistake on the namespace',
    () => ({ scene: { namespaceAnnotations: { 'spotalis.io/paused': 'maybe' } } }),
    'policy-invalid',
    'warning',
    'Namespace shop',
  ],
  [
    'windows that are never open together',
    () => ({
      scene: {
        annotations: {
          ...ask(70, 2),
          'spotalis.io/disruption-schedule': '0 2 * * *',
          'spotalis.io/disruption-duration': '1h',
        },
        rebalance: { schedule: '0 14 * * *', duration: '1h' },
      },
    }),
    'window-never-open',
    'warning',
    'within a year',
  ],
  [
    'a policy without any label',
    () => ({ scene: { labels: {}, namespaceLabels: {} } }),
    'labels-missing',
    'warning',
    'web',
  ],
  [
    'a workload that was disabled',
    () => ({ scene: { labels: {} } }),
    'workload-label-missing',
    'info',
    'label',
  ],
  [
    'a label with another value',
    () => ({ scene: { labels: { 'spotalis.io/enabled': 'True' } } }),
    'workload-label-missing',
    'warning',
    '"True"',
  ],
  [
    'a namespace without its label',
    () => ({ scene: { namespaceLabels: {} } }),
    'namespace-label-missing',
    'warning',
    'namespace/shop',
  ],
  [
    'a scope that excludes the namespace',
    () => ({ scene: { configuration: { scope: { excludedNamespaces: ['shop'] } } } }),
    'out-of-scope',
    'warning',
    'excludedNamespaces',
  ],
  [
    'a scope that lists other namespaces',
    () => ({ scene: { configuration: { scope: { namespaces: ['bank'] } } } }),
    'out-of-scope',
    'warning',
    'not in scope.namespaces',
  ],
  [
    'a scope that lists a namespace which is not there',
    () => ({ scene: { configuration: { scope: { namespaces: ['shop', 'bnak'] } } } }),
    'namespace-missing',
    'warning',
    'bnak',
  ],
  [
    'a budget that never allows anything',
    () => ({ scene: { pdbs: [pdb('all', 10, 10)] } }),
    'budget-never',
    'warning',
    '10 healthy pods of 10',
  ],
  [
    'two budgets on one pod',
    () => ({ scene: { pdbs: [pdb('a', 10, 5), pdb('b', 10, 5)] } }),
    'budgets-several',
    'warning',
    'a, b',
  ],
  [
    "a user's own deletion cost",
    () => ({ scene: { templateAnnotations: { 'controller.kubernetes.io/pod-deletion-cost': '5' } } }),
    'deletion-cost',
    'warning',
    'pod-deletion-cost',
  ],
  [
    'a template pinned to spot',
    () => ({ scene: { templateSpec: pinned('spot') } }),
    'placement-conflict',
    'warning',
    'spot only',
  ],
  [
    'a template pinned to nothing there is',
    () => ({ scene: { templateSpec: pinned('other') } }),
    'placement-conflict',
    'warning',
    'neither type',
  ],
  [
    'pods from before',
    () => ({ scene: { pods: [...Array(3).keys()].map((index) => ({ name: `old-${index}` })) } }),
    'pods-unsteered',
    'info',
    '3 of its 3',
  ],
  [
    'a pod past the webhook',
    () => ({
      scene: { pods: [...healthy, { name: 'late', createdAt: new Date(NOON - 1_000).toISOString() }] },
    }),
    'pods-unsteered',
    'warning',
    'late',
  ],
  [
    'a drought of two hours',
    () => ({ scene: { droughts: drought({ sinceMs: NOON - 7_200_000 }) } }),
    'drought-lasting',
    'warning',
    'no spot capacity for 2h',
  ],
  [
    'nowhere to tell of droughts',
    () => ({ scene: { droughts: newsOf([]) } }),
    'bulletin-missing',
    'warning',
    'helm upgrade',
  ],
  [
    'droughts told by another version',
    () => ({
      scene: { droughts: newsOf([{ object: 'ConfigMap a/spotalis-droughts', text: '{"version":2}' }]) },
    }),
    'bulletin-unreadable',
    'warning',
    'its version is 2',
  ],
];

describe('the doctor', () => {
  it('misses no news of droughts while distribution is off', async () => {
    const findings = await found({ scene: { configuration: off, droughts: newsOf([]) } });
    expect(findings.map(({ id }) => id)).toEqual(['distribution-off']);
  });

  it('finds nothing on a healthy installation', async () => {
    const findings = await found({});
    expect(findings).toEqual([]);
    expect(findingsText(findings, { style: plain, width: undefined })).toBe('Nothing is wrong.');
  });

  it.each(faults)('finds %s', async (_name, plant, id, severity, word) => {
    const findings = await found(await plant());
    const finding = findings.find((each) => each.id === id);
    expect({ ids: findings.map((each) => each.id), finding }).toMatchObject({ finding: { id, severity } });
    expect(Object.values(finding ?? {}).join(' ')).toContain(word);
  });

  it("holds nothing against a StatefulSet's pods, which admission gives no reservation", async () => {
    const pods = ['spot', 'spot', 'on-demand', 'on-demand'].map((type, ordinal) => ({
      name: `web-${ordinal}`,
      type: type as 'spot' | 'on-demand',
      annotations: { 'spotalis.io/capacity-type': type, 'spotalis.io/policy': '50/2' },
    }));
    expect(await found({ scene: { kind: 'StatefulSet', annotations: ask(50, 2), pods } })).toEqual([]);
  });

  it('takes a drought that is young, or bridged nowhere, for none of its business', async () => {
    expect(await found({ scene: { droughts: drought() } })).toEqual([]);
    expect(await found({ scene: { droughts: noNews } })).toEqual([]);
  });

  it('is tried with everything that it knows', () => {
    expect(new Set(faults.map(([, , id]) => id))).toEqual(new Set(Object.keys(known)));
  });

  it.each([
    ['an installation', ['shop']],
    ['two installations', ['shop', 'bank']],
  ])('guesses nothing about %s whose configuration it cannot read', async (_what, namespaces) => {
    const registrations = namespaces.map((namespace) => ({
      ...registration,
      name: `spotalis.${namespace}`,
      caBundle: certificates.caBundle,
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    }));
    const labels = { 'spotalis.io/enabled': 'true', 'kubernetes.io/metadata.name': 'shop' };
    const scene = { configuration: { redis: {} }, namespaceLabels: labels };
    expect(await found({ scene, installation: { registrations } })).toEqual([]);
  });

  it('puts the worst first, and says of each what, why and what to do', async () => {
    const text = findingsText(
      await found({
        scene: { configuration: { readOnlyMode: true } },
        installation: { lease: { ...lease, holder: '' } },
      }),
      { style: plain, width: undefined },
    );
    expect(text).toBe(
      [
        'error  Lease a/b  leader-missing',
        '  What: no controller holds it',
        '  Why:  nothing is repaired, and no lack of capacity is bridged; admission goes on',
        '  Do:   docs/runbooks.md#spotalisnoleader',
        '',
        'warning  ConfigMap spotalis/spotalis-controller  read-only',
        '  What: readOnlyMode is on',
        '  Why:  decisions are made and told, and nothing is done: no pod is steered or moved',
        '  Do:   set readOnlyMode to false once what it tells is what you want: docs/configuration.md',
        '',
        '1 error, 1 warning',
      ].join('\n'),
    );
  });
});
