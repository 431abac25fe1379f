import { type Declared, isSetting, type Setting, type SettingGroup } from '@spotalis/units';
import { withOwn } from './configuration.ts';
import { inline } from './describe.ts';
import { allowedIn } from './formats.ts';
import { environmentName, settingsOf } from './keys.ts';

/** docs/configuration.md, written from what is declared. */
export function configurationReference<S extends SettingGroup>(
  declared: Declared<S>,
  introduction: string,
): string {
  const groups = Object.entries(withOwn(declared).settings).map(([name, node]) =>
    section(name, isSetting(node) ? new Map([[name, node]]) : settingsOf(node, `${name}.`)),
  );
  return `${[introduction, ...groups].join('\n\n')}\n`;
}

function section(group: string, settings: ReadonlyMap<string, Setting>): string {
  const keys = [...settings].map(([key, about]) => entry(key, about));
  return [`## ${group}`, ...keys].join('\n\n');
}

function entry(key: string, about: Setting): string {
  const fallback = about.default === null ? 'unset' : `\`${inline(about.default)}\``;
  const facts = [
    `- default: ${fallback}`,
    `- allowed: ${allowedIn(about)}`,
    `- environment: \`${environmentName(key)}\``,
    ...(about.reloadable ? ['- reloadable'] : []),
    ...(about.aliases ?? []).map((alias) => `- older name: \`${alias}\``),
  ];
  return [`### \`${key}\``, about.doc, facts.join('\n')].join('\n\n');
}
