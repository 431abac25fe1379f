import type { LogFields, Logger, LogLevel } from '../logging/logger.ts';

export interface LoggedLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that keeps its lines. */
export class MemoryLogger implements Logger {
  readonly lines: LoggedLine[];
  readonly #context: LogFields;

  constructor(lines: LoggedLine[] = [], context: LogFields = {}) {
    this.lines = lines;
    this.#context = context;
  }

  error(message: string, fields: LogFields = {}): void {
    this.#add('error', message, fields);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#add('warn', message, fields);
  }

  info(message: string, fields: LogFields = {}): void {
    this.#add('info', message, fields);
  }

  debug(message: string, fields: LogFields = {}): void {
    this.#add('debug', message, fields);
  }

  child(fields: LogFields): MemoryLogger {
    return new MemoryLogger(this.lines, { ...this.#context, ...fields });
  }

  #add(level: LogLevel, message: string, fields: LogFields): void {
    this.lines.push({ level, message, fields: { ...this.#context, ...fields } });
  }
}
