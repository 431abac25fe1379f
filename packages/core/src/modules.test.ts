import { describe, expect, it } from '@jest/globals';
import { toyModule } from './testing/toy-module.ts';
import { isOn } from './module/declaration.ts';
import { modules } from './modules.ts';
import { settings } from './settings.ts';

describe('the modules', () => {
  it('have a switch each, and each switch a module', () => {
    expect(Object.keys(settings.settings.modules)).toEqual(modules.map(({ name }) => name));
  });

  it('are off where no switch says that they are on', () => {
    expect(isOn(toyModule, {})).toBe(false);
    expect(isOn(toyModule, { toy: { enabled: false }, other: { enabled: true } })).toBe(false);
    expect(isOn(toyModule, { toy: { enabled: true } })).toBe(true);
  });
});
