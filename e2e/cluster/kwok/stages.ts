import { stringify } from 'yaml';

/**
 * What a test writes on a pod, or on a pod template, to keep the fake kubelet from taking the next step:
 * `start` (bound to its node, but Pending), `ready` (running, not ready), `delete` (terminating, not gone).
 */
export const HOLD_ANNOTATION = 'testcluster.spotalis.io/hold';
export type Hold = 'start' | 'ready' | 'delete';
/** A Go duration: how long a container runs before it is ready. */
export const READY_AFTER_ANNOTATION = 'testcluster.spotalis.io/ready-after';
/** A Go duration: how long a deleted pod goes on terminating. */
export const GONE_AFTER_ANNOTATION = 'testcluster.spotalis.io/gone-after';
/** The nodes that KWOK plays the kubelet of. */
export const FAKE_NODE_ANNOTATION = { name: 'kwok.x-k8s.io/node', value: 'fake' };

/** A jq expression and what it must, or must not, yield. */
interface Condition {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

const annotation = (name: string) => `.metadata.annotations["${name}"]`;
const is = (key: string, ...values: string[]): Condition => ({ key, operator: 'In', values });
const isNot = (key: string, ...values: string[]): Condition => ({ key, operator: 'NotIn', values });

const PHASE = '.status.phase';
const READY = '.status.conditions.[] | select( .type == "Ready" ) | .status';
const HOLD = annotation(HOLD_ANNOTATION);
const LIVES: Condition = { key: '.metadata.deletionTimestamp', operator: 'DoesNotExist' };
const DELETED: Condition = { key: '.metadata.deletionTimestamp', operator: 'Exists' };
const READY_LATER = `${annotation(READY_AFTER_ANNOTATION)} != null or ${HOLD} == "ready" | tostring`;

/** The life of a fake node and of its pods, as a configuration file of KWOK. */
export function stagesFile(): string {
  const stages = [
    stage('pod-start', 'Pod', [LIVES, is(PHASE, 'Pending'), isNot(HOLD, 'start'), is(READY_LATER, 'false')], {
      statusTemplate: podStarts(true),
    }),
    stage(
      'pod-start-not-ready',
      'Pod',
      [LIVES, is(PHASE, 'Pending'), isNot(HOLD, 'start'), is(READY_LATER, 'true')],
      {
        statusTemplate: podStarts(false),
      },
    ),
    stage(
      'pod-ready',
      'Pod',
      [LIVES, is(PHASE, 'Running'), is(READY, 'False'), isNot(HOLD, 'ready')],
      { statusTemplate: readiness(true) },
      READY_AFTER_ANNOTATION,
    ),
    stage('pod-not-ready', 'Pod', [LIVES, is(PHASE, 'Running'), is(READY, 'True'), is(HOLD, 'ready')], {
      statusTemplate: readiness(false),
    }),
    stage(
      'pod-complete',
      'Pod',
      [LIVES, is(PHASE, 'Running'), is('.metadata.ownerReferences.[].kind', 'Job')],
      {
        statusTemplate: 'phase: Succeeded\n',
      },
    ),
    stage('pod-delete', 'Pod', [DELETED, isNot(HOLD, 'delete')], { delete: true }, GONE_AFTER_ANNOTATION),
    stage('node-ready', 'Node', [isNot(READY, 'True')], { statusTemplate: nodeReady }),
  ];
  return stages.map((each) => stringify(each)).join('---\n');
}

function stage(
  name: string,
  kind: string,
  conditions: readonly Condition[],
  next: object,
  delayAnnotation?: string,
): object {
  const delay = delayAnnotation && {
    durationMilliseconds: 0,
    durationFrom: { expressionFrom: annotation(delayAnnotation) },
  };
  return {
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    kind: 'Stage',
    metadata: { name },
    spec: {
      resourceRef: { apiGroup: 'v1', kind },
      selector: { matchExpressions: conditions },
      ...(delay && { delay }),
      next,
    },
  };
}

function podStarts(ready: boolean): string {
  return `${readiness(ready, ['PodReadyToStartContainers', 'Initialized'])}
startTime: {{ Now | Quote }}
{{ with NodeIPWith .spec.nodeName }}
hostIP: {{ . | Quote }}
{{ end }}
{{ with PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}
podIP: {{ . | Quote }}
podIPs:
- ip: {{ . | Quote }}
{{ end }}
`;
}

function readiness(ready: boolean, alsoTrue: readonly string[] = []): string {
  return `{{ $now := Now }}
phase: Running
conditions:
${alsoTrue.map((type) => condition(type, true)).join('')}${condition('Ready', ready)}${condition('ContainersReady', ready)}
{{ range .spec.readinessGates }}
- {type: {{ .conditionType | Quote }}, status: "True", lastTransitionTime: {{ $now | Quote }}}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: ${ready}
  started: true
  restartCount: 0
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ end }}
`;
}

function condition(type: string, status: boolean): string {
  return `- {type: ${type}, status: "${status ? 'True' : 'False'}", lastTransitionTime: {{ $now | Quote }}}\n`;
}

const nodeReady = `{{ $now := Now }}
phase: Running
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
`;
