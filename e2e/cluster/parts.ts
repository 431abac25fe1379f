import { prepareCertManager } from './cert-manager/cert-manager.ts';
import { findDefinitions } from './binaries/definitions.ts';
import { findKarpenter } from './binaries/karpenter.ts';
import { prepareBinaries, prepareHelm, prepareKubectl, prepareNodeBinaries } from './binaries/prepare.ts';
import { cachedProgram, PROGRAM_NAMES } from './binaries/programs.ts';
import { isProgram } from './process/path.ts';
import { prepareToolbox } from './process/toolbox.ts';
import { findMetricsServer } from './metrics-server/metrics-server.ts';
import { findPrometheus } from './prometheus/program.ts';
import { whyNoRealNode } from './real-node/possible.ts';
import { isOtherRedis, otherRedis } from './redis/others.ts';
import { findRedis } from './redis/program.ts';
import { findShells } from './shells/program.ts';
import { type Alternative, ALTERNATIVES, isAlternative } from './versions.ts';

type Report = (line: string) => void;

/** Why the part cannot be had here; undefined when it is in the cache. Throws where no machine may lack it. */
type Prepare = (report: Report) => Promise<string | undefined>;

const required =
  (prepare: (options: { readonly report: Report }) => Promise<unknown>): Prepare =>
  async (report) => {
    await prepare({ report });
    return undefined;
  };

/** Tests that need it say so and are left out where it is missing. */
const optional =
  (find: (report: Report) => Promise<object>): Prepare =>
  async (report) => {
    const found = await find(report);
    return 'missing' in found ? String(found.missing) : undefined;
  };

async function prepareRealNode(report: Report): Promise<string | undefined> {
  const whyNot = await whyNoRealNode();
  if (whyNot !== undefined) return `there is no real node: ${whyNot}`;
  await prepareNodeBinaries({ report });
  await prepareToolbox(report);
  return undefined;
}

/**
 * What tests on real parts are made of, by the names that they give after `@needs`. Those that are only fetched come
 * first, so that something can be played while the others are built.
 */
export const PARTS: Readonly<Record<string, Prepare>> = {
  redis: required(findRedis),
  prometheus: optional(findPrometheus),
  shells: optional(findShells),
  'control-plane': required(prepareBinaries),
  definitions: optional(findDefinitions),
  helm: required(prepareHelm),
  kubectl: required(prepareKubectl),
  'real-node': prepareRealNode,
  karpenter: optional(findKarpenter),
  'metrics-server': optional(findMetricsServer),
  'cert-manager': required(prepareCertManager),
};

type Rare = Alternative | 'cert-manager';

/** What only compatibility takes. A run does without it where it is not in the cache, for bringing it takes minutes. */
export const isRare = (name: string): name is Rare => isAlternative(name) || name === 'cert-manager';

export function isCached(name: Rare): boolean {
  if (name === 'cert-manager') return isProgram(cachedProgram(name));
  if (isOtherRedis(name)) return isProgram(otherRedis(name));
  const programs = ALTERNATIVES[name].part === 'helm' ? (['helm'] as const) : PROGRAM_NAMES;
  return programs.every((program) => isProgram(cachedProgram(program, name)));
}
