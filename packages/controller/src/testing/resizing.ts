import type { RawResizablePod, ResizeIntent, ResizeSurroundings, Size } from '@spotalis/core';
import type { Logger } from '@spotalis/runtime';

export const silentLogger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => silentLogger,
};

/** Nothing in the way. */
export const unhindered: ResizeSurroundings = {
  supported: true,
  lowersMemoryLimits: true,
  node: null,
  podLeaves: false,
  limitRanges: [],
  quotas: [],
  memoryUsed: new Map(),
  allocationCovers: () => false,
};

/** What a test asks for, also of another process. */
export interface Ask {
  readonly namespace: string;
  readonly pod: string;
  /** By container. */
  readonly to: Readonly<Record<string, Partial<Size>>>;
  readonly more?: Partial<Pick<ResizeIntent, 'module' | 'purpose' | 'remember' | 'forget'>>;
}

export function intentOf({ namespace, to, more }: Ask, { metadata }: RawResizablePod): ResizeIntent {
  const { name, uid, resourceVersion } = metadata;
  return {
    id: `rightsizing/${name}`,
    kind: 'resize',
    module: 'rightsizing',
    rank: 4,
    subject: `rightsizing/workload/${name}`,
    sinceMs: 0,
    workload: { uid: name, namespace },
    pod: { name, uid, resourceVersion },
    purpose: 'size',
    to: new Map(
      Object.entries(to).map(([container, size]) => [container, { requests: {}, limits: {}, ...size }]),
    ),
    ...more,
  };
}
