import { describe, expect, it } from '@jest/globals';
import { foreignKeys } from '../policy/keys.ts';
import { free, resizable, size } from '../testing/resizing.ts';
import type { LimitRangeItem } from './bounds.ts';
import type { ResizeSurroundings } from './guard.ts';
import type { ResizeReason } from './hold.ts';
import type { ResizablePod } from './resizable-pod.ts';
import { qosClassOf } from './quality.ts';
import { nextStep, type ResizeAsk } from './step.ts';

const app = { requests: { cpu: '100m', memory: '100' }, limits: { cpu: '500m', memory: '200' } };
const plain = resizable({ app });
const more = new Map([['app', size({ cpu: 200 })]]);
const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'n', controller: true };
const init = {
  initContainers: [{ name: 'setup', resources: { requests: { cpu: '1m' } } }],
  ephemeralContainers: [{ name: 'shell' }],
};
const range = (item: Partial<LimitRangeItem>): Partial<ResizeSurroundings> => ({
  limitRanges: [
    {
      type: 'Container',
      min: {},
      max: {},
      default: {},
      defaultRequest: {},
      maxLimitRequestRatio: {},
      ...item,
    },
  ],
});
const on = (amounts: object): Partial<ResizeSurroundings> => ({
  node: { name: 'n1', leaving: false, allocatable: { cpu: 1_000 }, free: { cpu: 50 }, ...amounts },
});

interface Case {
  readonly pod?: ResizablePod;
  readonly ask?: Partial<ResizeAsk>;
  readonly around?: Partial<ResizeSurroundings>;
}

const cases: readonly (readonly [ResizeReason, string, Case])[] = [
  ['PodNotRunning', 'it is Pending', { pod: { ...plain, phase: 'Pending' } }],
  ['PodLeaving', 'it is terminating', { pod: { ...plain, terminating: true } }],
  ['PodLeaving', 'it is about to be moved', { around: { podLeaves: true } }],
  ['NodeLeaving', 'its node goes', { around: on({ leaving: true, free: { cpu: 900 } }) }],
  ['StaticPod', 'a node owns it', { pod: resizable({ app }, { metadata: { ownerReferences: [owner] } }) }],
  [
    'StaticPod',
    'it mirrors one',
    { pod: resizable({ app }, { metadata: { annotations: { [foreignKeys.mirror]: 'x' } } }) },
  ],
  ['WindowsPod', 'it is of Windows', { pod: resizable({ app }, { spec: { os: { name: 'windows' } } }) }],
  [
    'PodLevelResources',
    'it has a size of its own',
    { pod: resizable({ app }, { spec: { resources: { limits: { cpu: '1' } } } }) },
  ],
  ['ResizeUnsupported', 'the server cannot', { around: { supported: false } }],
  [
    'ResizeUnsupported',
    'the kubelet cannot',
    { pod: resizable({ app }, { status: { containerStatuses: [] } }) },
  ],
  ['QosClass', 'it is BestEffort', { pod: resizable({ app: {} }) }],
  [
    'QosClass',
    'it would be Guaranteed',
    { pod: plain, ask: { to: new Map([['app', size({ cpu: 500, memory: 200 })]]) } },
  ],
  ['NotResizable', 'there is no such container', { ask: { to: new Map([['nobody', size({ cpu: 1 })]]) } }],
  ['NotResizable', 'it is an init container', { ask: { to: new Map([['setup', size({ cpu: 2 })]]) } }],
  ['NotResizable', 'it is ephemeral', { ask: { to: new Map([['shell', size({ cpu: 2 })]]) } }],
  ['UnknownResource', 'it is storage', { ask: { to: new Map([['app', size({ 'ephemeral-storage': 1 })]]) } }],
  [
    'AmountAdded',
    'there is no limit yet',
    {
      pod: resizable({ app: { requests: { cpu: '1' } } }),
      ask: { to: new Map([['app', size({}, { cpu: 2_000 })]]) },
    },
  ],
  [
    'NotOwned',
    'allocation has the CPU limit',
    { ask: { to: new Map([['app', size({}, { cpu: 900 })]]) }, around: { allocationCovers: () => true } },
  ],
  ['NotOwned', 'allocation wants a request', { ask: { module: 'allocation' } }],
  [
    'BelowOriginal',
    'a loan would end below it',
    {
      ask: {
        module: 'allocation',
        to: new Map([['app', size({}, { cpu: 400 })]]),
        originals: new Map([['app', 450]]),
      },
    },
  ],
  [
    'OriginalUnknown',
    'nobody can read what is owed',
    { ask: { module: 'allocation', to: new Map([['app', size({}, { cpu: 900 })]]), originals: null } },
  ],
  ['RequestAboveLimit', 'the request grows past it', { ask: { to: new Map([['app', size({ cpu: 501 })]]) } }],
  [
    'RestartRequired',
    'the container asks for it',
    { pod: resizable({ app }, { policy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }) },
  ],
  [
    'MemoryLimitFixed',
    'the server is old',
    {
      ask: { to: new Map([['app', size({}, { memory: 150 })]]) },
      around: { lowersMemoryLimits: false, memoryUsed: new Map([['app', 1]]) },
    },
  ],
  [
    'MemoryInUse',
    'most of it is used',
    {
      ask: { to: new Map([['app', size({}, { memory: 150 })]]) },
      around: { memoryUsed: new Map([['app', 120]]) },
    },
  ],
  ['MemoryInUse', 'nobody knows', { ask: { to: new Map([['app', size({}, { memory: 150 })]]) } }],
  [
    'LimitRangeDefaults',
    'a limit would be filled in',
    { pod: resizable({ app: { requests: app.requests } }), around: range({ default: { cpu: 1_000 } }) },
  ],
  ['LimitRange', 'it is too much', { around: range({ max: { cpu: 499 } }) }],
  ['LimitRange', 'it is too little', { around: range({ min: { cpu: 201 } }) }],
  [
    'LimitRange',
    'limit and request are too far apart',
    { around: range({ maxLimitRequestRatio: { cpu: 2 } }) },
  ],
  ['LimitRange', 'the pod is too large', { around: range({ type: 'Pod', max: { memory: 199 } }) }],
  [
    'QuotaExceeded',
    'requests are short',
    { around: { quotas: [{ name: 'q', free: { 'requests.cpu': 99 } }] } },
  ],
  ['QuotaExceeded', 'CPU is short', { around: { quotas: [{ name: 'q', free: { cpu: 99 } }] } }],
  ['NodeFull', 'there is no room now', { around: on({}) }],
  ['NodeTooSmall', 'there never is', { around: on({ allocatable: { cpu: 150 } }) }],
];

const step = ({ pod = resizable({ app }, { spec: init }), ask = {}, around = {} }: Case) =>
  nextStep(
    pod,
    { module: 'rightsizing', purpose: 'size', to: more, originals: new Map(), ...ask },
    { ...free, ...around },
  );

describe('a pod is not resized', () => {
  it.each(cases)('for %s: %s', (reason, _why, given) => {
    expect(step(given)).toMatchObject({ kind: 'held', hold: { reason } });
  });

  it('but is where nothing is in the way', () => {
    expect(step({})).toMatchObject({ kind: 'send' });
  });
});

describe('what gives back', () => {
  const back = new Map([['app', size({}, { memory: 150 })]]);

  it('grows on a node that goes', () => {
    const around = { ...on({ leaving: true, free: { cpu: 900 } }), podLeaves: true };
    expect(step({ ask: { purpose: 'restore' }, around })).toMatchObject({ kind: 'send' });
  });

  it('lowers a memory limit whose use nobody knows', () => {
    expect(step({ ask: { purpose: 'restore', to: back } })).toMatchObject({ kind: 'send' });
  });
});

describe('a decrease', () => {
  const less = { to: new Map([['app', size({ cpu: 50 })]]) };
  it.each<[string, Partial<ResizeSurroundings>]>([
    ['a full node', on({ free: { cpu: -10 } })],
    ['a node that goes', on({ leaving: true })],
    ['a spent quota', { quotas: [{ name: 'q', free: { 'requests.cpu': -5 } }] }],
  ])('is let through by %s', (_what, around) => {
    expect(step({ ask: less, around })).toMatchObject({ kind: 'send' });
  });
});

describe('the QoS class', () => {
  it.each([
    ['Guaranteed', [size({ cpu: 1, memory: 2 }, { cpu: 1, memory: 2 })]],
    ['Burstable', [size({ cpu: 1, memory: 1 }, { cpu: 1, memory: 2 })]],
    ['Burstable', [size({ cpu: 1 }, { cpu: 1 })]],
    ['Burstable', [size({ cpu: 1, memory: 2 }, { cpu: 1, memory: 2 }), size()]],
    ['BestEffort', [size(), size({ cpu: 0 })]],
  ])('is %s', (qos, sizes) => {
    expect(qosClassOf(sizes)).toBe(qos);
  });
});
