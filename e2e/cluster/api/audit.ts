import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { waitFor, type WaitOptions } from '../process/wait.ts';

/** One request as the API server logged it when it had answered. Bodies are there at the levels that keep them. */
export interface AuditEvent {
  readonly auditID: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
  };
  readonly responseStatus?: { readonly code?: number; readonly reason?: string };
  readonly requestObject?: unknown;
  readonly responseObject?: unknown;
  readonly requestReceivedTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What everybody asked of the API server, in the order of the answers. Node leases and probes are left out. */
export class AuditLog {
  readonly file: string;
  #lines: readonly string[] = [];
  #bytesRead = 0;
  /** Of a line that is still being written. */
  #begun = Buffer.alloc(0);

  constructor(file: string) {
    this.file = file;
  }

  /** With `mentioning`, only lines with that text in them are parsed. */
  read(matches: (event: AuditEvent) => boolean = () => true, mentioning = ''): AuditEvent[] {
    this.#readOn();
    return this.#lines
      .filter((line) => line.includes(mentioning))
      .map((line): AuditEvent => JSON.parse(line))
      .filter(matches);
  }

  wait(
    description: string,
    matches: (event: AuditEvent) => boolean,
    options?: Pick<WaitOptions, 'timeoutMs' | 'intervalMs'>,
  ): Promise<AuditEvent> {
    return waitFor(description, () => this.read(matches)[0], options);
  }

  /** What came since the last time: tests ask again and again, beside the balancer of the webhooks. */
  #readOn(): void {
    if (!existsSync(this.file)) return;
    const file = openSync(this.file, 'r');
    try {
      const added = Buffer.alloc(fstatSync(file).size - this.#bytesRead);
      this.#bytesRead += readSync(file, added, 0, added.length, this.#bytesRead);
      const text = Buffer.concat([this.#begun, added]);
      const end = text.lastIndexOf('\n') + 1;
      if (end > 0) this.#lines = this.#lines.concat(text.toString('utf8', 0, end - 1).split('\n'));
      this.#begun = text.subarray(end);
    } finally {
      closeSync(file);
    }
  }
}
