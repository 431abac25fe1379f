/**
 * Two projects: `unit` needs nothing but Node; `real` talks to a real API server or a real Redis, and waits longer where
 * the machine is busy.
 */
const shared = {
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } },
    ],
  },
  moduleNameMapper: { '^fast-check$': `${import.meta.dirname}/scripts/fast-check.mjs` },
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
};

export default {
  // A hook that starts or stops a cluster takes seconds, more on a busy machine.
  testTimeout: 60_000,
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/{packages,e2e,tour,charts,docs,scripts}/**/*.test.{ts,mjs}'],
      testPathIgnorePatterns: [
        ...shared.testPathIgnorePatterns,
        '\\.real\\.test\\.ts$',
        '<rootDir>/e2e/(scenarios|chaos)/',
      ],
    },
    {
      ...shared,
      displayName: 'real',
      testEnvironment: '<rootDir>/scripts/suite/patient-environment.mjs',
      testMatch: [
        '<rootDir>/{packages,e2e,tour,charts,docs}/**/*.real.test.ts',
        '<rootDir>/e2e/{scenarios,chaos}/**/*.test.ts',
      ],
    },
  ],
};
