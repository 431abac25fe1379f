/** How esbuild bundles a service. Only stubs.test.mjs does without the stubs, to compare. */
import { inlineLua, onlyCredentials, putStubs, requireBuiltins } from './plugins.mjs';

export const bundling = ({ stubbed = true } = {}) => ({
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  // CommonJS inside an ESM bundle still calls require for Node's own modules.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  external: ['utf-8-validate', 'bufferutil', 'supports-color'],
  plugins: [requireBuiltins, onlyCredentials, inlineLua, ...(stubbed ? [putStubs] : [])],
});
