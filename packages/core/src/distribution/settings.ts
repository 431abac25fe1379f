import { declare } from '@spotalis/units';

export const distributionSettings = declare({
  defaults: {
    spotPercentage: {
      format: 'integer',
      min: 0,
      max: 100,
      example: 70,
      default: null,
      doc: 'spot-percentage of managed workloads that set none, on themselves or on their namespace.',
      reloadable: true,
    },
    minOnDemand: {
      format: 'integer',
      min: 0,
      max: 10_000,
      example: 1,
      default: null,
      doc: 'min-on-demand of managed workloads that set none, on themselves or on their namespace.',
      reloadable: true,
    },
  },
});
