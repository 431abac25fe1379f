import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:https';
import { type CertificateSource, type Component, HttpServer, type Logger } from '@spotalis/runtime';
import { admissionPath } from '../serve/admissions.ts';
import { rehearsedReview } from './review.ts';
import type { RehearsalService } from './service.ts';

export interface RehearsalOptions {
  /** How many admissions are rehearsed; 0 for none. */
  readonly admissions: number;
  /** Answers them as it answers the API server, and changes nothing. */
  readonly openService: () => Promise<RehearsalService>;
  readonly certificates: CertificateSource;
  readonly logger: Logger;
  readonly now: () => number;
}

/** A replica on a slow machine must serve at some time, rehearsed or not. */
const LONGEST_MS = 5_000;
/** Admissions before new connections are made: a burst brings them, too. */
const ROUND = 64;
const CONNECTIONS = 16;

/**
 * Runs admissions of pods that do not exist before the service is ready. Code that has hardly run is slow: without this,
 * each of the first dozen admissions takes 8 ms of a core, the next fifty 3 to 4, and from some three hundred on half
 * a millisecond. A new replica would meet its first burst, which may be of hundreds of pods at once, in that state.
 */
export class Rehearsal implements Component {
  readonly name = 'rehearsal';
  readonly #options: RehearsalOptions;

  constructor(options: RehearsalOptions) {
    this.#options = options;
  }

  /** Never throws: a service that has not rehearsed serves all the same. */
  async start({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { admissions, logger, now } = this.#options;
    if (admissions === 0) return;
    const beganMs = now();
    try {
      const done = await this.#run(() => signal.aborted || now() - beganMs > LONGEST_MS);
      logger.info('rehearsed', { admissions: done, ms: Math.round(now() - beganMs) });
    } catch (error) {
      logger.warn('not rehearsed; the first admissions will be slow', { error });
    }
  }

  async #run(isOver: () => boolean): Promise<number> {
    const { admissions, openService, certificates, logger } = this.#options;
    const service = await openService();
    const server = new HttpServer({
      name: this.name,
      host: '127.0.0.1',
      port: 0,
      handler: service.app,
      certificates,
      logger,
    });
    try {
      await server.start();
      let done = 0;
      while (done < admissions && !isOver()) {
        const count = Math.min(ROUND, admissions - done);
        await runRound(server.port, count);
        done += count;
      }
      return done;
    } finally {
      await server.stop();
      await service.close();
    }
  }
}

async function runRound(port: number, count: number): Promise<void> {
  // The names in the certificate are those of the Service.
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, rejectUnauthorized: false });
  try {
    await Promise.all(Array.from({ length: count }, () => send(agent, port)));
  } finally {
    agent.destroy();
  }
}

function send(agent: Agent, port: number): Promise<void> {
  const body = JSON.stringify(rehearsedReview(randomUUID()));
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const call = request(
      { host: '127.0.0.1', port, path: admissionPath, method: 'POST', agent, headers },
      (response) => {
        response.on('error', reject);
        response.on('end', () => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`a rehearsed admission was answered with ${response.statusCode}`));
        });
        response.resume();
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}
