import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly description: string };
}

const file = new URL('../spotalis/files/alerts.yaml', import.meta.url);

const { groups } = parse(readFileSync(file, 'utf8')) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
};

export const groupNames: readonly string[] = groups.map(({ name }) => name);

export const rules: readonly Rule[] = groups.flatMap((group) => group.rules);

/** A file of rules for Prometheus, made of ours. */
export function ruleFile(change: (rule: Rule) => Partial<Rule>): string {
  return stringify({ groups: groups.map((group) => ({ ...group, rules: group.rules.map(change) })) });
}
