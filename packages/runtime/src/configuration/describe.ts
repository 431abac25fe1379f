import { isSetting, type SettingGroup } from '@spotalis/units';
import { stringify } from 'yaml';
import { print } from './formats.ts';
import type { Loaded, Origin } from './load.ts';

/** One value in YAML that fits on the rest of a line. */
export const inline = (value: unknown): string =>
  stringify(value ?? null, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: true }).trim();

/**
 * The effective configuration as YAML, each value with its origin as a comment. Passwords inside URLs are masked;
 * otherwise it is a file that yields the same configuration again.
 */
export function describe<S>(
  settings: SettingGroup,
  { flat, origins }: Pick<Loaded<S>, 'flat' | 'origins'>,
): string {
  const lines: string[] = [];
  const visit = (group: SettingGroup, prefix: string, indent: string): void => {
    for (const [name, node] of Object.entries(group)) {
      const key = `${prefix}${name}`;
      if (isSetting(node)) {
        const value = inline(print(node, flat.get(key)));
        lines.push(`${indent}${name}: ${value} # ${tell(origins.get(key))}`);
      } else {
        lines.push(`${indent}${name}:`);
        visit(node, `${key}.`, `${indent}  `);
      }
    }
  };
  visit(settings, '', '');
  return `${lines.join('\n')}\n`;
}

function tell(origin: Origin | undefined): string {
  if (origin?.from === 'file') return `file ${origin.file}`;
  if (origin?.from === 'environment') return `environment ${origin.name}`;
  return 'default';
}
