const { TestEnvironment } = require('jest-environment-node')

/** Skips the tests after the first one that fails: one is enough to notice a mutant, and Jest would run them all. */
class FirstFailureEnvironment extends TestEnvironment {
  hasFailed = false

  /** @param {{ readonly name: string, readonly test?: { mode?: string | null } }} event */
  async handleTestEvent(event) {
    if (event.name === 'test_fn_failure') this.hasFailed = true
    if (event.name === 'test_start' && this.hasFailed && event.test !== undefined) event.test.mode = 'skip'
  }
}

module.exports = FirstFailureEnvironment
