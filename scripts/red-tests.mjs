/**
 * A reporter for jest that writes which tests are red, as JSON into the file named by SPOTALIS_RED_TESTS. jest's own
 * report is lost when `--bail` ends a run of several files.
 */
import { writeFileSync } from 'node:fs';

export default class RedTests {
  onRunComplete(_contexts, { testResults }) {
    const red = testResults.flatMap((file) =>
      file.testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
    );
    // A file that cannot even be loaded has no tests.
    const broken = testResults.find(({ testExecError }) => testExecError)?.failureMessage;
    writeFileSync(process.env.SPOTALIS_RED_TESTS, JSON.stringify({ red, broken }));
  }
}
