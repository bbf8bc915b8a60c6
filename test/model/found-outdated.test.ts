import { test } from '@jest/globals'
import { holds, useModel } from './story/holds.ts'

/** An answer of a partner that comes late, when what it tells of has changed. */

useModel()

// money that the partner had taken back came again into the books
test('an answer from before the reversal, which comes after it, brings no money back', () =>
  holds({
    minor: '4999',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'fault', at: 'cancel', trouble: 'slow', times: 1 },
      { do: 'cancel', together: true },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'lose the run' },
      { do: 'partner', act: 'take all back', of: 0, percent: 60, news: 'told', together: true },
    ],
  }))

test('… nor money of which nobody had heard before it was gone', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'fault', at: 'cancel', trouble: 'slow', times: 1 },
      { do: 'cancel', together: true },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'lose the run', together: true },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
    ],
  }))

// canceled for ever, with an order at the converter that nobody ended
test('a cancellation by an activity of a lost run, of which the next one hears by the mark of a delay, ends the conversion', () =>
  holds({
    minor: '10000',
    pinned: false,
    steps: [
      { do: 'click', provider: 'wallet_app' },
      { do: 'fault', at: 'read', trouble: 'slow to hear', times: 1 },
      { do: 'fault', at: 'cancel', trouble: 'slow', times: 1 },
      { do: 'cancel', together: true },
      { do: 'partner', act: 'pay', of: 0, percent: 100, news: 'told' },
      { do: 'lose the run' },
      { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
      { do: 'lose the run' },
    ],
  }))
