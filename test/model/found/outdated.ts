import { click, once, partner, together } from '../story/ideas/idea.ts'
import type { Found } from './story.ts'

/** A late response of a partner, whose content is outdated when it arrives. */
export const OUTDATED: readonly Found[] = [
  {
    title: 'an answer from before the reversal, which comes after it, brings no money back',
    was: 'money that the partner had taken back came again into the books',
    minor: '4999',
    steps: [
      click('wallet_app'),
      once('cancel', 'slow'),
      together({ do: 'cancel' }),
      partner('pay'),
      { do: 'lose the run' },
      together(partner('take all back', 0, { percent: 60 })),
    ],
  },
  {
    title: 'money that was not read before it was reversed does not come into the books again',
    steps: [
      click('wallet_app'),
      once('cancel', 'slow'),
      together({ do: 'cancel' }),
      partner('pay'),
      together({ do: 'lose the run' }),
      partner('take all back'),
    ],
  },
  {
    title:
      'a cancellation by an activity of a lost run, which the next one reads from the mark of a delay, ends the conversion',
    was: 'canceled forever, with an order at the converter that nobody ended',
    steps: [
      click('wallet_app'),
      once('read', 'slow to report'),
      once('cancel', 'slow'),
      together({ do: 'cancel' }),
      partner('pay'),
      { do: 'lose the run' },
      partner('take all back'),
      { do: 'lose the run' },
    ],
  },
]
