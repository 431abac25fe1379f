import { isSetting, type Setting, type SettingGroup } from '@spotalis/units';

/** Every setting by its full key, in the order in which they are declared. */
export function settingsOf(group: SettingGroup, prefix = ''): ReadonlyMap<string, Setting> {
  const found = new Map<string, Setting>();
  for (const [name, node] of Object.entries(group)) {
    const key = `${prefix}${name}`;
    if (isSetting(node)) found.set(key, node);
    else for (const [inner, leaf] of settingsOf(node, `${key}.`)) found.set(inner, leaf);
  }
  return found;
}

type Nested<Leaf> = { [name: string]: Leaf | Nested<Leaf> };

/** The settings' groups, with something else in the place of each setting. */
export function nested<Leaf>(
  group: SettingGroup,
  leaf: (key: string, setting: Setting) => Leaf,
  prefix = '',
): Nested<Leaf> {
  const members = Object.entries(group).map(([name, node]) => {
    const key = `${prefix}${name}`;
    return [name, isSetting(node) ? leaf(key, node) : nested(node, leaf, `${key}.`)] as const;
  });
  return Object.fromEntries(members);
}

/** controller.resyncPeriod -> SPOTALIS_CONTROLLER_RESYNC_PERIOD */
export function environmentName(key: string): string {
  const words = key.split('.').map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase());
  return `SPOTALIS_${words.join('_')}`;
}
