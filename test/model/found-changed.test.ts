import { describe, test } from '@jest/globals'
import { holds, isThen, useModel } from './story/holds.ts'
import { decide, engine, partner, simulator, wait } from './story/ideas/idea.ts'
import type { Told } from './story/steps.ts'
import type { View } from './story/view.ts'

/** Stories about payments that are stopped with their money, as by a partner that changes its order: see found.test.ts. */

useModel()

// The partner had a fifth of the money, or none, and said so. It was converted and paid out, because the order was of
// another amount than was asked for.
describe('a changed order that has less money', () => {
  const click: Told = { do: 'click', provider: 'wallet_app' }
  const changed = (percent: number) => partner('change the amount', 0, { percent })
  const slow = [click, simulator('delay', 600), partner('pay')]
  const waits = [click, partner('pay')]
  const kept = (steps: Told[], then: Partial<View>) =>
    isThen({ minor: '4999', pinned: false, steps: [...steps, wait(20), engine('settle')] }, then)

  test('is not converted', () =>
    kept([...slow, changed(20)], { status: 'under_review', parkReason: 'order_changed', converted: false }))

  test('… where it has nothing at all', () =>
    kept([...slow, changed(0)], { status: 'under_review', parkReason: 'order_changed', converted: false }))

  test('… and not where all goes back afterwards', () =>
    kept([...slow, changed(20), partner('take all back')], { status: 'failed', converted: false }))

  test('… by the card partner either', () => {
    const steps: Told[] = [
      { ...click, provider: 'card_partner' },
      ...slow.slice(1),
      changed(20),
      partner('take all back'),
    ]
    return kept(steps, { status: 'failed', converted: false })
  })

  test('is not paid out', () => kept([...waits, changed(20)], { status: 'under_review', parkReason: 'payout_held' }))

  test('… and its payout is voided where all goes back', () =>
    kept([...waits, changed(20), partner('take all back')], { status: 'under_review', parkReason: 'funds_reversed' }))

  test('… and ends where the partner says that it has nothing of a paid order: its payout is voided', () =>
    holds({ minor: '4999', pinned: false, steps: [...waits, changed(0)] }))

  // It went on with a part of the money, and stood before an operator without any way out.
  test('… that was converted meanwhile ends when the change is acknowledged', () => {
    const meanwhile: Told = { do: 'fault', at: 'convert', trouble: 'slow', times: 1 }
    const steps = [click, meanwhile, partner('pay'), changed(20), wait(1), decide('acknowledge'), wait(1)]
    return isThen({ minor: '4999', pinned: false, steps }, { status: 'under_review', parkReason: 'payout_voided' })
  })

  // It stayed before an operator.
  test('goes on when it has all of it after all', () =>
    kept([...slow, changed(20), changed(100), wait(400)], { status: 'succeeded' }))

  // It waited for the next poll, which may be six hours away.
  test('… and at once where its partner refuses a refund', () => {
    const silently = partner('fit again', 0, { news: 'later' })
    const refused = [simulator('refund_refused'), decide('refund')]
    const steps = [...slow, changed(20), wait(400), silently, ...refused]
    return isThen({ minor: '4999', pinned: false, steps }, { status: 'settling' })
  })

  test('is converted where by its own word it has all of it', () =>
    kept([...slow, changed(100)], { status: 'succeeded' }))
})

// An operator had closed it once, before the order fitted and was paid: said again it was nothing new, and the payment was paid
// out. Where the conversion took its time, the partner's word was waited for without end.
describe('a changed order of which an operator has closed the same words before it fitted', () => {
  const click: Told = { do: 'click', provider: 'wallet_app' }
  const changed = (percent: number) => partner('change the amount', 0, { percent })
  const closed = (percent: number, slow: Told[] = []) => {
    const fitted = [decide('reject'), decide('approve'), partner('fit again'), ...slow, decide('approve')]
    return [click, changed(percent), ...fitted]
  }
  const again = (steps: Told[], then: Partial<View>) => isThen({ minor: '4999', pinned: false, steps }, then)
  const slow = [simulator('delay', 600)]

  test('is not paid out', () =>
    again([...closed(20), wait(1), changed(20), wait(1), engine('settle')], {
      status: 'under_review',
      parkReason: 'payout_held',
    }))

  test('is not converted', () =>
    again([...closed(20, slow), changed(20), wait(60)], {
      status: 'under_review',
      parkReason: 'order_changed',
      converted: false,
    }))

  test('… and goes on where it has all of the money', () =>
    again([...closed(100, slow), changed(100), wait(60), engine('settle')], { status: 'succeeded' }))
})

// Every decision was refused because of what the partner said, and acknowledging it because it was nothing new.
describe('a changed order that has all of the money, in words that an operator closed before it was paid', () => {
  const click: Told = { do: 'click', provider: 'wallet_app' }
  const whole = partner('change the amount', 0, { percent: 100 })
  const again = partner('fit again')

  test('can be ended where it was rejected', () => {
    const paid = [click, whole, decide('reject'), decide('approve'), again, decide('approve'), wait(1)]
    return holds({ minor: '4999', pinned: false, steps: [...paid, decide('hold'), whole, wait(1)] })
  })

  test('… and where it had expired', () => {
    const paid = [click, wait(1500), whole, decide('approve'), again, wait(1)]
    return holds({ minor: '4999', pinned: false, steps: [...paid, decide('hold'), whole] })
  })
})

// An operator's look at the end made a doubt of one that had been heard rightly.
test('a doubt that is heard again, of money that then goes back, was heard rightly', () => {
  const less = partner('change the amount', 0, { percent: 20 })
  const slow: Told[] = [simulator('delay', 600), { do: 'click', provider: 'wallet_app' }]
  const closed = [less, decide('reject'), decide('approve'), partner('fit again'), decide('approve')]
  return holds({ minor: '4999', pinned: false, steps: [...slow, ...closed, less, partner('take all back')] })
})

// Neither a refund nor a void was possible: no payout was there, and it was not void.
describe('a hold that comes during the conversion', () => {
  const slow: Told = { do: 'fault', at: 'convert', trouble: 'slow', times: 1 }
  const held: Told[] = [{ do: 'click', provider: 'wallet_app' }, slow, partner('pay'), decide('hold'), wait(1)]

  test('… ends with a refund', () =>
    isThen(
      { minor: '4999', pinned: false, steps: [...held, decide('refund')] },
      { status: 'refunded', converted: true },
    ))

  test('… or with one that was made elsewhere', () =>
    isThen(
      { minor: '4999', pinned: false, steps: [...held, decide('recordExternalRefund')] },
      { status: 'refunded', converted: true },
    ))

  // Its payout counted as void for a refund that never was.
  test('… goes on when it is lifted after a refund that the partner refused', () => {
    const refused = [simulator('refund_refused'), decide('refund'), decide('release'), wait(1)]
    return isThen({ minor: '4999', pinned: false, steps: [...held, ...refused] }, { status: 'settling' })
  })

  test('… or goes on when it is lifted', () =>
    isThen(
      { minor: '4999', pinned: false, steps: [...held, decide('release'), engine('settle')] },
      { status: 'succeeded' },
    ))
})
