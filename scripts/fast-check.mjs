/**
 * fast-check for the tests: jest.config.mjs puts it in the place of the package. With SPOTALIS_PROPERTY_SEED, which
 * scripts/test.mjs sets and prints, every property begins with that seed.
 */
// By its file: by its name it would be this module again.
import * as fastCheck from '../node_modules/fast-check/lib/fast-check.js';

const seed = process.env['SPOTALIS_PROPERTY_SEED'];
if (seed !== undefined) {
  fastCheck.configureGlobal({ ...fastCheck.readConfigureGlobal(), seed: Number(seed) });
}

export * from '../node_modules/fast-check/lib/fast-check.js';
export default fastCheck.default;
