import { accepted, casesOf, refused, type ResourceCase } from '../resource/cases.ts';
import { toy } from './toy.ts';

const least = { bounds: { cpu: { min: '100m', max: '2' } } };
const with_ = (more: object) => ({ ...least, ...more });
const cpu = (min: unknown, max: unknown) => ({ bounds: { cpu: { min, max } } });
const matcher = (more: object) => with_({ matchers: [{ name: 'one', ...more }] });
const requirement = (more: object) =>
  with_({ nodeSelector: { matchExpressions: [{ key: 'app', ...more }] } });
const atRequirement = 'spec.nodeSelector.matchExpressions[0]';

/** What the rules add to the cases that follow from the definition. */
const byRules: readonly ResourceCase[] = [
  accepted('a quantity as a number', cpu(1, 2)),
  accepted('equal quantities in different forms', cpu('700m', '0.7')),
  accepted('equal quantities, the other way round', cpu('0.7', '700m')),
  accepted('binary and decimal quantities', cpu('1000Ki', '1024000')),
  accepted('less than a nano, which is rounded up', cpu('1m', '1000000.1n')),
  refused('a nano too much', cpu('1.000000001', '1'), 'Conflict', 'spec.bounds.cpu.min'),
  refused('minimum above maximum', cpu('3', '2000m'), 'Conflict', 'spec.bounds.cpu.min'),
  refused('binary above decimal', cpu('1Gi', '1G'), 'Conflict', 'spec.bounds.cpu.min'),
  refused('zero CPU', cpu('0', '1'), 'Invalid', 'spec.bounds.cpu.min'),
  accepted('a duration of several units', with_({ window: '0h59m59s1000ms' })),
  refused('a duration below its minimum', with_({ window: '5m59s' }), 'Invalid', 'spec.window'),
  refused('a duration above its maximum', with_({ window: '1h1ms' }), 'Invalid', 'spec.window'),
  accepted('force at the very end', with_({ drain: { forceAfter: '900s' } })),
  refused(
    'force after the end',
    with_({ drain: { forceAfter: '16m' } }),
    'Conflict',
    'spec.drain.forceAfter',
  ),
  refused(
    'a short drain that proves places',
    with_({ drain: { timeout: '9m', surge: true } }),
    'Conflict',
    'spec.drain.timeout',
  ),
  refused('a drain that proves places, and no limit', with_({ drain: { surge: true } }), 'Conflict', 'spec'),
  accepted('a drain that proves places below a limit', with_({ maxLimit: '1Gi', drain: { surge: true } })),
  refused(
    'a drain that proves places, and a selector without labels',
    with_({ nodeSelector: {}, drain: { surge: true } }),
    'Conflict',
    'spec',
  ),
  accepted('a short drain', with_({ drain: { timeout: '9m' } })),
  refused('0% of the pods', with_({ maxPods: '0%' }), 'Invalid', 'spec.maxPods'),
  refused('0% at once', with_({ maxConcurrent: '0%' }), 'Invalid', 'spec.maxConcurrent'),
  accepted('a count', with_({ maxConcurrent: 3 })),
  refused('equal thresholds', with_({ throttled: 50 }), 'Conflict', 'spec.throttled'),
  refused('half a window', with_({ schedule: '0 22 * * *' }), 'Conflict', 'spec'),
  refused('the other half', with_({ length: '4h' }), 'Conflict', 'spec'),
  refused('a namespace while off', with_({ mode: 'Off', namespace: 'shop' }), 'Conflict', 'spec'),
  accepted('off', with_({ mode: 'Off' })),
  refused('a matcher of nothing', matcher({}), 'Conflict', 'spec.matchers[0]'),
  accepted(
    'two matchers',
    with_({
      matchers: [
        { name: 'a', reason: 'A' },
        { name: 'b', message: 'B' },
      ],
    }),
  ),
  accepted('an empty list where there is no minimum', with_({ matchers: [] })),
  refused('null in a list', with_({ searchTerms: [null] }), 'Invalid', 'spec.searchTerms[0]'),
  accepted('null in a map', with_({ weights: { web: null, shop: 1 } })),
  accepted('a key that JavaScript has a meaning for', with_({ weights: JSON.parse('{"__proto__": 1}') })),
  accepted('characters of two units', with_({ title: '\u{1f680}'.repeat(20) })),
  refused('too many of them', with_({ title: '\u{1f680}'.repeat(21) }), 'Invalid', 'spec.title'),
  refused('In without values', requirement({ operator: 'In' }), 'Conflict', atRequirement),
  refused(
    'Exists with values',
    requirement({ operator: 'Exists', values: ['web'] }),
    'Conflict',
    atRequirement,
  ),
  accepted('Exists', requirement({ operator: 'Exists' })),
  accepted('a selector of everything', with_({ nodeSelector: {} })),
  {
    ...refused('a time zone that does not exist', with_({ zone: 'Europe/Atlantis' }), 'Invalid', 'spec.zone'),
    server: false,
  },
];

export const toyCases: readonly ResourceCase[] = [...casesOf(toy), ...byRules];
