import type { AuditEvent, AuditLog } from '@spotalis/cluster';

/** When the answer went out; every event of the stage ResponseComplete has it. */
interface AnsweredEvent extends AuditEvent {
  readonly stageTimestamp: string;
}

/** What the API server logged about one burst. Times in ms since the epoch, to the microsecond. */
export interface BurstAudit {
  readonly firstRequestMs: number;
  readonly lastPodMs: number;
  /** Of each created pod, from the request received to the answer written. */
  readonly createMs: readonly number[];
  /** Creations of pods that were answered with an error. */
  readonly refused: number;
  readonly evictions: number;
  /** LISTs and GETs by the webhook's ServiceAccount. */
  readonly webhookReads: { readonly list: number; readonly get: number };
}

const webhookUser = 'system:serviceaccount:spotalis-system:spotalis-webhook';

export function readBurst(log: Pick<AuditLog, 'read'>, namespace: string, sinceMs: number): BurstAudit {
  const requests: number[] = [];
  const answers: number[] = [];
  const createMs: number[] = [];
  let refused = 0;
  let evictions = 0;
  const webhookReads = { list: 0, get: 0 };
  for (const event of log.read().filter(isAnswered)) {
    const receivedMs = microtime(event.requestReceivedTimestamp);
    if (receivedMs < sinceMs) continue;
    const { verb, user, objectRef } = event;
    if (user.username === webhookUser && (verb === 'list' || verb === 'get')) webhookReads[verb] += 1;
    if (objectRef?.namespace !== namespace) continue;
    if (objectRef.resource === 'deployments' && verb === 'patch') requests.push(receivedMs);
    if (objectRef.resource !== 'pods' || verb !== 'create') continue;
    if (objectRef.subresource === 'eviction') evictions += 1;
    if (objectRef.subresource !== undefined) continue;
    if (event.responseStatus?.code === 201) {
      const answeredMs = microtime(event.stageTimestamp);
      answers.push(answeredMs);
      createMs.push(answeredMs - receivedMs);
    } else {
      refused += 1;
    }
  }
  return {
    firstRequestMs: least(requests),
    lastPodMs: 0 - least(answers.map((ms) => 0 - ms)),
    createMs,
    refused,
    evictions,
    webhookReads,
  };
}

function isAnswered(event: AuditEvent): event is AnsweredEvent {
  return 'stageTimestamp' in event;
}

/** Too many numbers for the arguments of Math.min. */
function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

/** Date reads milliseconds only; the API server writes six digits. */
function microtime(timestamp: string): number {
  const micros = /\.\d{3}(\d{3})Z$/.exec(timestamp)?.[1];
  return Date.parse(timestamp) + Number(micros ?? 0) / 1000;
}
