import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { stopPayout } from '../../../src/db/settlement/payouts.ts'
import { withAnswer } from '../../../src/domain/payment/funds/answer.ts'
import { toFunds } from '../../../src/domain/payment/funds/stored-funds.ts'
import { type BooksFixture, createBooksFixture, type Ids } from './books-fixture.ts'

let fixture: BooksFixture
beforeAll(async () => {
  fixture = await createBooksFixture()
})
afterAll(() => fixture.close())

const EUR = (minor: string) => ({ minor, currency: 'EUR' as const })

/** Stories of payments, as the production code writes them. No invariant is violated after any of them. */
const SOUND: Readonly<Record<string, () => Promise<{ readonly id: string }>>> = {
  'that was created': async () => ({ id: await fixture.created() }),
  'whose buyer has an open order': () => fixture.opened(),
  'whose money is being sold': () => fixture.paid(),
  'whose payout is on its way': () => fixture.settling(),
  'whose payout was held, and is not handed over again yet': async () => {
    const made = await fixture.settling()
    await fixture.changeLocked(made.id, async (draft, tx) => {
      await stopPayout(tx, made.id, 'looked at it')
      draft.setFunds(withAnswer(toFunds(draft.state), { say: 'hold' }))
    })
    expect(await fixture.differences(made.id)).toEqual({})
    await fixture.decide(made.id, { say: 'release' })
    expect((await fixture.state(made.id)).payment.payout).toBe('none')
    return made
  },
  'that has succeeded': () => fixture.succeeded(),
  'that has expired': () => fixture.expired(),
  'that was paid with USDC': () => fixture.paidInUsdc(),
  'that waits for a person, because too little came': () => fixture.paid('5000'),
  'whose fill is far off the locked rate': async () => {
    const made = await fixture.paid()
    await fixture.fill(made.id, 90_000_000n)
    return made
  },
  'that another order has paid as well': async () => {
    const made = await fixture.paid()
    const attemptId = await fixture.open(made.id, 'card_partner')
    await fixture.reads({ id: made.id, attemptId }, { received: EUR('10000') })
    return made
  },
  'whose money was given back from elsewhere': async () => {
    const made = await fixture.paid('5000')
    await fixture.decide(made.id, { say: 'give_back', accountId: made.attemptId, outside: true }, `RF ${made.id}`)
    return made
  },
  'whose money was reversed after the payout': async () => {
    const made = await fixture.succeeded()
    await fixture.reads(made, { status: 'declined', received: null })
    return made
  },
  'whose loss was written off': async () => {
    const made = await fixture.succeeded()
    await fixture.reads(made, { status: 'declined', received: null })
    await fixture.decide(made.id, { say: 'write_off' })
    return made
  },
}

describe('The invariants', () => {
  test.each(Object.entries(SOUND))('the invariants hold for a payment %s', async (_which, play) => {
    expect(await fixture.differences((await play()).id)).toEqual({})
  })

  test('the invariants hold for a dispute that cost more than was received, which is recorded once and listed', async () => {
    const made: Ids = await fixture.succeeded()
    const dispute = { status: 'declined', received: EUR('-1500') } as const
    await fixture.reads(made, dispute)
    const { payment } = await fixture.state(made.id)
    expect(payment.reviews).toMatchObject([
      { reason: 'odd_order', text: expect.stringContaining('-15.00 EUR received') },
      { reason: 'loss', text: expect.stringContaining('lost 100.00 EUR') },
    ])
    await fixture.reads(made, dispute)
    expect((await fixture.state(made.id)).payment.version).toBe(payment.version)
    expect(await fixture.differences(made.id)).toEqual({})
    await fixture.decide(made.id, { say: 'write_off' })
    await fixture.reads(made, dispute)
    expect((await fixture.state(made.id)).payment).toMatchObject({ reviews: [], status: 'succeeded' })
    expect(await fixture.differences(made.id)).toEqual({})
  })

  test('the invariants hold for money that a partner takes back after the buyer got it from elsewhere', async () => {
    const made: Ids = await fixture.paid('5000')
    await fixture.decide(made.id, { say: 'give_back', accountId: made.attemptId, outside: true }, `RF ${made.id}`)
    await fixture.reads(made, { status: 'declined', received: null })
    const { payment } = await fixture.state(made.id)
    expect(payment.reviews.map(({ reason }) => reason)).toEqual(['loss'])
    await fixture.reads(made, { status: 'declined', received: null })
    expect((await fixture.state(made.id)).payment.version).toBe(payment.version)
    expect(await fixture.differences(made.id)).toEqual({})
  })
})
