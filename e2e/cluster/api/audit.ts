import { existsSync, readFileSync } from 'node:fs';
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

  constructor(file: string) {
    this.file = file;
  }

  /** With `mentioning`, only lines with that text in them are parsed. */
  read(matches: (event: AuditEvent) => boolean = () => true, mentioning = ''): AuditEvent[] {
    if (!existsSync(this.file)) return [];
    const lines = readFileSync(this.file, 'utf8').split('\n');
    // The last line is empty, or one that is still being written.
    return lines
      .slice(0, -1)
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
}
