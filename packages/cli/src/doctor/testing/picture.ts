import { settings } from '@spotalis/core';
import { loadConfiguration } from '@spotalis/runtime';
import { ask, NOON, podsOf, type Scene, surveyOf } from '../../testing/scene.ts';
import type { Installation, Picture, Registration, ServiceDeployment } from '../picture/picture.ts';

const capacityKey = 'karpenter.sh/capacity-type';

const healthyScene: Scene = {
  pods: podsOf(7, 3, { spotPercentage: 70, minOnDemand: 2 }),
  annotations: ask(70, 2),
  nodes: {
    'spot-1': { [capacityKey]: 'spot' },
    'od-1': { [capacityKey]: 'on-demand' },
  },
};

const deployment = (service: ServiceDeployment['service'], replicas: number): ServiceDeployment => ({
  service,
  namespace: 'spotalis-system',
  name: `spotalis-${service}`,
  instance: 'spotalis',
  replicas,
  readyReplicas: replicas,
  image: `example.com:5000/spotalis/${service}:1.2.3`,
  version: '1.2.3',
  serviceAccount: `spotalis-${service}`,
});

export const webhookDeployment = deployment('webhook', 3);
export const controllerDeployment = deployment('controller', 2);
export const redisDeployment = deployment('redis', 1);

export const registration: Registration = {
  name: 'spotalis',
  caBundle: '',
  failurePolicy: 'Ignore',
  timeoutSeconds: 2,
  namespaceSelector: {
    matchExpressions: [{ key: 'spotalis.io/enabled', operator: 'In', values: ['true'] }],
  },
  service: { namespace: 'spotalis-system', name: 'spotalis-webhook', readyEndpoints: 3 },
};

export interface Fault {
  readonly scene?: Partial<Scene>;
  readonly installation?: Partial<Installation>;
}

/** An installation as the chart makes it, with a workload that is split as it asks; and what is wrong with it. */
export async function pictureOf(
  { scene = {}, installation = {} }: Fault,
  { caBundle, cert }: { readonly caBundle: string; readonly cert: string },
): Promise<Picture> {
  const { values } = await loadConfiguration(settings, {
    file: 'spotalis.yaml',
    text: 'redis: { url: "redis://redis:6379" }',
    environment: {},
  });
  return {
    nowMs: NOON,
    survey: await surveyOf({ ...healthyScene, ...scene }),
    installation: {
      namespace: 'spotalis-system',
      configurations: [
        {
          origin: 'ConfigMap spotalis-system/spotalis-webhook',
          namespace: 'spotalis-system',
          reading: { ok: true, values },
        },
      ],
      deployments: [webhookDeployment, controllerDeployment, redisDeployment],
      registrations: [{ ...registration, caBundle }],
      serving: { kind: 'found', secret: 'Secret spotalis-system/spotalis-webhook-certificate', cert },
      lease: {
        kind: 'found',
        name: 'spotalis-system/spotalis-controller',
        holder: 'controller-0',
        renewedAtMs: NOON - 2_000,
        durationMs: 15_000,
      },
      rights: [],
      ...installation,
    },
  };
}
