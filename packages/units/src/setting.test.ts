import { describe, expect, it } from '@jest/globals';
import { combine, declare } from './setting.ts';

const flag = { format: 'flag', default: false, doc: 'One or the other.' } as const;
const refused = [{ key: 'lights.red', message: 'is off' }];
const red = declare({ lights: { red: flag } }, [({ lights }) => (lights.red ? [] : refused)]);
const green = declare({
  lights: { green: flag, level: { ...flag, format: 'integer', min: 0, max: 9, example: 1, default: 3 } },
});

describe('declarations of several owners', () => {
  it('share groups, in the order in which they are given, with the rules of all', () => {
    const { settings, rules } = combine(red, green);
    expect(Object.keys(settings.lights)).toEqual(['red', 'green', 'level']);
    const values: { readonly red: boolean; readonly green: boolean; readonly level: number } = {
      red: false,
      green: true,
      level: 1,
    };
    expect(rules.flatMap((rule) => rule({ lights: values }))).toEqual(refused);
  });

  it('do not share a key', () => {
    expect(() => combine(red, green, red)).toThrow('lights.red is declared twice');
    expect(() => combine(red, declare({ lights: flag }))).toThrow('lights is declared twice');
  });
});
