import { combine, declare } from '@spotalis/units';
import { declareModule } from '../module/declaration.ts';
import { settings } from '../settings.ts';
import { toy } from './toy.ts';

/** A module that exists in tests only: off unless somebody turns it on, as modules are. */
export const toyModule = declareModule({
  name: 'toy',
  settings: declare({
    modules: { toy: { enabled: { format: 'flag', default: false, doc: 'Play.' } } },
  }),
  resources: [toy],
  rights: {
    controller: {
      cluster: [
        { why: 'Its objects.', group: 'spotalis.io', resources: ['toypolicies'], verbs: ['list', 'watch'] },
      ],
      workloads: [
        {
          why: 'Tells what it found.',
          group: 'spotalis.io',
          resources: ['toypolicies/status'],
          verbs: ['patch'],
        },
      ],
    },
    webhook: {
      cluster: [
        { why: 'Its objects.', group: 'spotalis.io', resources: ['toypolicies'], verbs: ['list', 'watch'] },
      ],
    },
  },
});

/** The configuration of a product that has the toy as well. */
export const settingsWithToy = combine(settings, toyModule.settings);
