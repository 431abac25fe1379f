import {
  chartDir,
  type Cluster,
  Helm,
  type ImageArchive,
  installationNamespace,
  type KubeObject,
  realNodeOnly,
  redisImage,
  serviceImage,
  waitFor,
} from '@spotalis/cluster';

const SERVICES = ['webhook', 'controller'] as const;
type Service = (typeof SERVICES)[number];

export interface ContainerPod extends KubeObject {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
  readonly status: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime: string;
    }[];
    readonly containerStatuses?: readonly {
      readonly containerID: string;
      readonly restartCount: number;
      readonly ready: boolean;
      readonly state: { readonly running?: { readonly startedAt: string } };
    }[];
  };
}

interface DeploymentObject extends KubeObject {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec: { readonly replicas: number };
  readonly status: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
  };
}

const place = { name: 'spotalis', namespace: installationNamespace };

/** The chart with its defaults, by the images it names, which were built here, on the cluster's real node. */
export class ContainerRelease {
  readonly #cluster: Cluster;
  readonly #helm: Helm;
  /** Our own. */
  readonly images: readonly ImageArchive[];

  constructor(cluster: Cluster, helm: Helm, images: readonly ImageArchive[]) {
    this.#cluster = cluster;
    this.#helm = helm;
    this.images = images;
  }

  /** Resolves when everything is Ready. */
  async install(): Promise<void> {
    await this.#helm.install(place, chartDir());
    await this.settled();
  }

  /** To other values than the defaults; resolves when nothing of what was before is left. */
  async upgrade(values: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#helm.upgrade(place, chartDir(), values);
    await this.settled();
  }

  async rollback(): Promise<void> {
    await this.#helm.rollback(place);
    await this.settled();
  }

  async uninstall(): Promise<void> {
    await this.#helm.uninstall(place);
    this.#helm.dispose();
  }

  /** Makes the images known under another tag, too. */
  async publish(tag: string): Promise<void> {
    for (const { image } of this.images)
      await this.#cluster.realNode.tag(image, image.replace(/:[^:]*$/, `:${tag}`));
  }

  /** Resolves when all is as declared, and none of the former pods is left. */
  async settled(): Promise<void> {
    for (const component of [...SERVICES, 'redis'] as const) {
      await waitFor(
        `the ${component} to be as declared`,
        async () => {
          const path = `${installationNamespace}/spotalis-${component}`;
          const { metadata, spec, status } = await this.#cluster.api.get<DeploymentObject>(
            'Deployment',
            path,
          );
          const pods = await this.pods(component);
          return {
            observed: status.observedGeneration === metadata.generation,
            wanted: spec.replicas,
            seen: [status.replicas ?? 0, status.updatedReplicas ?? 0, status.readyReplicas ?? 0, pods.length],
          };
        },
        {
          timeoutMs: 180_000,
          until: ({ observed, wanted, seen }) => observed && seen.every((count) => count === wanted),
        },
      );
    }
  }

  pods(component: Service | 'redis'): Promise<ContainerPod[]> {
    return this.#cluster.api.list<ContainerPod>('Pod', {
      namespace: installationNamespace,
      labelSelector: `app.kubernetes.io/component=${component}`,
    });
  }
}

/** Brings what the chart asks for onto the node, and makes its namespace: what a registry and a user would do. */
export async function prepareRelease(cluster: Cluster): Promise<ContainerRelease> {
  const helm = await Helm.prepare({ kubeconfig: cluster.kubeconfig });
  const images: ImageArchive[] = [];
  for (const name of imagesIn(await helm.template(place, chartDir()))) {
    const service = SERVICES.find((each) => name.includes(`/${each}:`));
    const archive = service ? await serviceImage(service, name) : await redisImage(official(name));
    await cluster.realNode.import(archive);
    if (service) images.push(archive);
  }
  await cluster.api.apply(namespaceOfContainers(installationNamespace));
  return new ContainerRelease(cluster, helm, images);
}

/** Its pods run for real, and within the pod security profile `restricted` or not at all. */
export function namespaceOfContainers(name: string): KubeObject {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations: realNodeOnly, labels } };
}

function imagesIn(objects: readonly KubeObject[]): Set<string> {
  const named = JSON.stringify(objects.filter(({ kind }) => kind === 'Deployment')).matchAll(
    /"image":"([^"]+)"/g,
  );
  return new Set([...named].map(([, name = '']) => name));
}

/** As container runtimes complete a name without a registry. */
const official = (name: string): string => `docker.io/library/${name}`;
