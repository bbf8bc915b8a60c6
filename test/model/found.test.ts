import { test } from '@jest/globals'
import { holds, useModel } from './story/holds.ts'

/** Stories that the model has found, each at its shortest, with what went wrong. */

useModel()

// the workflow turned without end
test('a clock that rings for a state which the payment has left does not stop the workflow', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'local_partner' },
      { do: 'decide', decision: 'hold', of: null, late: false },
      { do: 'partner', act: 'pay slowly', of: 0, percent: 100, news: 'told' },
    ],
  }))
