/** What a supervisor asks of its watchdog. */
export type Request =
  | {
      readonly operation: 'spawn';
      readonly id: number;
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
      readonly logFile: string;
    }
  | { readonly operation: 'stop' };

/** What the watchdog says. */
export type Report =
  | { readonly event: 'ready' }
  | { readonly event: 'started'; readonly id: number; readonly pid: number }
  | { readonly event: 'failed'; readonly id: number; readonly message: string }
  | {
      readonly event: 'exited';
      readonly pid: number;
      readonly code: number | null;
      readonly signal: string | null;
    };

interface RosterEntry {
  readonly pid: number;
  /** Tells a process from a later one with the same pid; null where the system does not say. */
  readonly startTime: string | null;
}

/** `processes.json` in the state directory. */
export interface Roster {
  readonly watchdog: RosterEntry;
  readonly processes: readonly (RosterEntry & { readonly name: string })[];
  /** What goes when the cluster goes. */
  readonly removals: readonly string[];
}
