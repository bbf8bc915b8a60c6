import { test } from '@jest/globals'
import { holds, useModel } from './story/holds.ts'
import type { Told } from './story/steps.ts'

/** Short stories that a person thought of. */

useModel()

const click: Told = { do: 'click', provider: 'wallet_app' }
const pay = (percent: number): Told => ({ do: 'partner', act: 'pay', of: 0, percent, news: 'told' })
const decide = (decision: Extract<Told, { do: 'decide' }>['decision']): Told => ({
  do: 'decide',
  decision,
  of: null,
  late: false,
})
const back = (percent: number, act: 'take some back' | 'top up' = 'take some back'): Told => ({
  do: 'partner',
  act,
  of: 0,
  percent,
  news: 'told',
})
const told = (...steps: Told[]) => holds({ minor: '10000', pinned: false, steps })

// The partner still reports the whole sum, and what was returned outside is taken for new money.
test('a callback that comes again after a refund outside brings no new money', () =>
  told(click, pay(50), decide('recordExternalRefund'), { do: 'news', of: 0 }))

test('a refund that takes its time, and an approval meanwhile', () =>
  told(
    click,
    pay(50),
    { do: 'simulator', fault: 'refund_pending', seconds: 7200 },
    decide('refund'),
    decide('approve'),
  ))

test('money that is taken back while the payout is on its way', () =>
  told(
    click,
    pay(100),
    { do: 'engine', act: 'send' },
    { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
  ))

test('money that is taken back after the payout', () =>
  told(
    click,
    pay(100),
    { do: 'engine', act: 'settle' },
    { do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' },
  ))

test.each<[string, Told[]]>([
  ['all of it', [{ do: 'partner', act: 'take all back', of: 0, percent: 100, news: 'told' }]],
  ['all of it, and more has come', [back(60), back(100, 'top up')]],
  ['a part of it', [back(60), back(50, 'top up')]],
])('money that is taken back after the payout, and comes again: %s', (_, steps) =>
  told(
    click,
    pay(100),
    { do: 'engine', act: 'settle' },
    ...steps,
    ...(steps.length === 1 ? [{ do: 'partner', act: 'pay late', of: 0, percent: 100, news: 'told' } as const] : []),
  ),
)

test('money that comes after the listening has ended, and goes back', () =>
  told(click, { do: 'wait', minutes: 4500 }, { do: 'partner', act: 'pay late', of: 0, percent: 100, news: 'told' }))

test.each(['take all back', 'send all back'] as const)(
  'money that comes after the cancellation, and goes again: %s',
  (act) =>
    told(
      click,
      { do: 'cancel' },
      { do: 'simulator', fault: 'delay', seconds: 7200 },
      { do: 'partner', act: 'pay late', of: 0, percent: 100, news: 'told' },
      { do: 'partner', act, of: 0, percent: 100, news: 'told' },
      { do: 'wait', minutes: 60 },
    ),
)

test('a settlement that is delayed, and given back', () =>
  told(
    click,
    { do: 'simulator', fault: 'delay', seconds: 7200 },
    pay(100),
    { do: 'wait', minutes: 20 },
    decide('hold'),
    decide('refund'),
  ))
