import { maskPasswords, redact } from './redact.ts';

export interface Entry {
  readonly timestamp: string;
  readonly level: string;
  readonly message: string;
  readonly service: string;
  readonly fields: unknown;
}

/** One JSON object a line. A field may not take the place of one of the line's own names. */
export function lineOfJson({ fields, message, ...entry }: Entry): string {
  const line: Record<string, unknown> = {
    timestamp: entry.timestamp,
    level: entry.level,
    message: maskPasswords(message),
    service: entry.service,
  };
  const facts = redact(fields) ?? {};
  for (const [name, value] of Object.entries(facts)) line[ownNames.has(name) ? `${name}_` : name] = value;
  return JSON.stringify(line);
}

const ownNames = new Set(['timestamp', 'level', 'message', 'service']);

/** For people: `2026-01-01T00:00:00.000Z INFO  controller: moved a pod  workload=shop/web`, then the stack. */
export function lineOfText({ timestamp, level, message, service, fields }: Entry): string {
  const facts = Object.entries(redact(fields) ?? {});
  const stacks: string[] = [];
  const words = facts.map(([name, value]) => {
    if (isError(value)) {
      stacks.push(value.stack ?? `${value.name}: ${value.message}`);
      return `${name}=${JSON.stringify(value.code ?? value.message)}`;
    }
    const plain = typeof value === 'string' && /^[^\s"=]+$/.test(value);
    return `${name}=${plain ? value : JSON.stringify(value)}`;
  });
  const head = `${timestamp} ${level.toUpperCase().padEnd(5)} ${service}: ${maskPasswords(message)}`;
  return [[head, ...words].join('  '), ...stacks.map((stack) => stack.replace(/^/gm, '    '))].join('\n');
}

interface DescribedError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
}

const isError = (value: unknown): value is DescribedError =>
  typeof value === 'object' && value !== null && 'name' in value && 'message' in value && 'stack' in value;
