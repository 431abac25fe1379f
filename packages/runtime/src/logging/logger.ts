import type { Writable } from 'node:stream';
import winston from 'winston';
import { lineOfJson, lineOfText } from './line.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** Facts beside the message. An Error belongs under `error`: it is written with code, stack and cause. */
export type LogFields = Readonly<Record<string, unknown>>;

/** All that most code needs of logging. */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  /** A logger whose lines carry these fields too. */
  child(fields: LogFields): Logger;
}

/** The logger a service creates once; a change of level reaches all its children at once. */
export interface RootLogger extends Logger {
  setLevel(level: LogLevel): void;
}

export interface LoggerOptions {
  readonly service: string;
  readonly level: LogLevel;
  readonly format: 'json' | 'text';
  readonly stream?: Writable;
  readonly now?: () => number;
}

const levels: Readonly<Record<LogLevel, number>> = { error: 0, warn: 1, info: 2, debug: 3 };

export function createLogger(options: LoggerOptions): RootLogger {
  const { service, format, now = Date.now } = options;
  const write = format === 'json' ? lineOfJson : lineOfText;
  const root = winston.createLogger({
    levels: { ...levels },
    level: options.level,
    format: winston.format.printf(({ level, message, fields }) =>
      write({ timestamp: new Date(now()).toISOString(), level, message: String(message), service, fields }),
    ),
    transports: [new winston.transports.Stream({ stream: options.stream ?? process.stdout })],
  });
  return {
    ...bound(root, {}),
    setLevel(level) {
      root.level = level;
    },
  };
}

function bound(root: winston.Logger, context: LogFields): Logger {
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => {
    // winston builds the whole entry before it looks at the level.
    if (levels[level] > (root.levels[root.level] ?? levels.info)) return;
    // Nested, because winston appends a field named message to the message and lets others overwrite level.
    root.log({ level, message, fields: { ...context, ...fields } });
  };
  return {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: (fields) => bound(root, { ...context, ...fields }),
  };
}
