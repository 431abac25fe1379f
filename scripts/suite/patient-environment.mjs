import { TestEnvironment } from 'jest-environment-node';
import { measurePatience } from '../../e2e/cluster/process/patience.ts';

/** For tests on real parts: where CPU is scarce, what they wait for takes longer, and so may they. */
export default class PatientEnvironment extends TestEnvironment {
  #factor = 1;
  /** A hook begins once for each of its tests. */
  #extended = new WeakSet();

  async setup() {
    await super.setup();
    this.#factor = measurePatience();
    this.global.process.env.SPOTALIS_TEST_PATIENCE = String(this.#factor);
  }

  handleTestEvent(event, state) {
    if (event.name === 'setup') state.testTimeout *= this.#factor;
    if (event.name === 'hook_start') this.#extend(event.hook);
    if (event.name === 'test_start') this.#extend(event.test);
  }

  #extend(limited) {
    if (!limited.timeout || this.#extended.has(limited)) return;
    limited.timeout *= this.#factor;
    this.#extended.add(limited);
  }
}
