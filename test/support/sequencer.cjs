const Sequencer = require('@jest/test-sequencer').default

/** From the rules in the middle to the whole system: what fails first is closest to the cause. */
const LAYERS =
  'domain docs db chain providers webhooks activities workflows histories api web browser scripts e2e'.split(' ')

class LayerSequencer extends Sequencer {
  /**
   * @override
   * @param {Iterable<import('@jest/test-result').Test>} tests
   */
  sort(tests) {
    return [...tests].sort((a, b) => getLayer(a.path) - getLayer(b.path) || a.path.localeCompare(b.path))
  }
}

/**
 * A folder that is not in the list comes after the parts and before the whole.
 * @param {string} path
 */
function getLayer(path) {
  const folder = /\/test\/([^/]+)\//.exec(path)?.[1] ?? ''
  const index = LAYERS.indexOf(folder)
  return index === -1 ? LAYERS.indexOf('scripts') - 0.5 : index
}

module.exports = LayerSequencer
