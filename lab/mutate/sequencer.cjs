const { statSync } = require('node:fs')
const Sequencer = require('@jest/test-sequencer').default

/** Runs the small files first: most mutants fall there, and the tests of all states are then not run for them. */
class SmallFirst extends Sequencer {
  /**
   * @override
   * @param {Iterable<import('@jest/test-result').Test>} tests
   */
  sort(tests) {
    return [...tests].sort((a, b) => statSync(a.path).size - statSync(b.path).size)
  }
}

module.exports = SmallFirst
