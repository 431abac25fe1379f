/**
 * How a run of jest ended, from its report and its exit code. A suite that could not even load counts as one failure,
 * so that nothing is lost between the numbers, and so does a run in which no test was played.
 */
export function outcomeOf(report, code) {
  const passed = report.numPassedTests;
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
  return { passed, failed: failed === 0 && (code !== 0 || passed === 0) ? 1 : failed };
}
