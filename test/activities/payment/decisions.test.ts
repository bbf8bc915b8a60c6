import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Say } from '../../../src/domain/payment/requests.ts'
import { perform } from './fixture.ts'
import { createMoneyFixture, eur, type Made, type MoneyFixture, SIGNED } from './money-fixture.ts'

let fixture: MoneyFixture
beforeAll(async () => {
  fixture = await createMoneyFixture()
})
afterAll(() => fixture.close())

const CHANGED = { message: expect.stringContaining('has changed since you looked at it') }
const underpaid = () => fixture.paid('6000')

async function held(): Promise<Made> {
  const made = await fixture.paid()
  await fixture.decide(made.id, 'hold')
  return made
}

const decide = (id: string, say: Say, { version, attempt = 1 }: { version: number; attempt?: number }) =>
  perform(fixture.activities().decide, { paymentId: id, say, version, ...SIGNED }, { attempt })

/**
 * Two operators who decide at the same moment: each decision waits for the lock of the row, and is judged by the row
 * then.
 */
describe('Decisions that cross', () => {
  type Deed = 'settle' | 'release' | 'give_back' | 'outside'
  function carryOut(made: Made, deed: Deed) {
    if (deed === 'outside') return fixture.gaveOutside(made)
    return deed === 'give_back' ? fixture.giveBack(made) : fixture.decide(made.id, deed)
  }

  test.each<[() => Promise<Made>, Deed, Deed]>([
    [underpaid, 'settle', 'give_back'],
    [underpaid, 'settle', 'outside'],
    [underpaid, 'give_back', 'outside'],
    [held, 'release', 'give_back'],
    [held, 'release', 'outside'],
  ])('%p: of %s and %s at the same moment the money follows one', async (make, one, other) => {
    for (let round = 0; round < 3; round++) {
      const made = await make()
      const answers = await Promise.allSettled([carryOut(made, one), carryOut(made, other)])
      expect(answers.map(({ status }) => status)).toContain('fulfilled')
      const books = (await fixture.books(made.id)).map((line) => line.replace(/ -?\d+$/, ''))
      const { status } = await fixture.payment(made.id)
      if (status === 'processing') expect(books).toEqual(['merchant_payable EUR', 'partner_receivable EUR'])
      else expect([status, books.includes('merchant_payable EUR')]).toEqual(['refunded', false])
    }
  })

  test('two give-backs at the same moment ask the partner for one, and announce it once', async () => {
    const made = await underpaid()
    await Promise.allSettled([fixture.giveBack(made), fixture.giveBack(made)])
    await fixture.askBack(made)
    expect([await fixture.standing(made.id), await fixture.books(made.id)]).toEqual(['refunded', []])
    expect((await fixture.events(made.id)).filter((type) => type === 'payment.refunded')).toHaveLength(1)
  })

  test('a release and a hold at the same moment leave either, never a payment on hold that continues', async () => {
    const { id } = await held()
    await Promise.allSettled([fixture.decide(id, 'release'), fixture.decide(id, 'hold')])
    const isHeld = (await fixture.payment(id)).held
    expect(await fixture.standing(id)).toBe(isHeld ? 'under_review held' : 'processing')
  })
})

describe('A decision is about the version that the operator has read', () => {
  test('a release that is sent again does not end a hold that another operator has placed since', async () => {
    const { id } = await held()
    const { version } = await fixture.payment(id)
    expect((await decide(id, 'release', { version })).payment.status).toBe('processing')
    await fixture.decide(id, 'hold')
    await expect(decide(id, 'release', { version })).rejects.toMatchObject(CHANGED)
    expect(await decide(id, 'release', { version, attempt: 2 })).toMatchObject({ message: 'release: recorded' })
    expect(await fixture.standing(id)).toBe('under_review held')
  })

  test('another try finds the stored result of the first one, and does nothing more', async () => {
    const made = await underpaid()
    const { version } = await fixture.payment(made.id)
    // The first try was cut off before it did anything.
    for (const attempt of [2, 3])
      expect(await decide(made.id, 'settle', { version, attempt })).toMatchObject({
        payment: { status: 'processing' },
        message: 'settle: recorded',
      })
    expect(await fixture.checkout.timeline(made.id, 'payment.processing')).toHaveLength(1)
    const { rows } = await fixture.checkout.db.query('select say, operator from decision where payment_id = $1', [
      made.id,
    ])
    expect(rows).toEqual([{ say: 'settle', operator: SIGNED.operator }])
  })

  test('another try that finds another change reports that the result is unknown', async () => {
    const made = await underpaid()
    const { version } = await fixture.payment(made.id)
    await fixture.decide(made.id, 'hold')
    expect(await decide(made.id, 'settle', { version, attempt: 2 })).toMatchObject({
      unsure: true,
      message: 'settle: tried before, and the payment has changed since: its timeline says whether it was recorded',
    })
    expect(await fixture.standing(made.id)).toBe('under_review too_little')
  })

  test('money, a report and a loss make another version, and repeating them does not', async () => {
    const made = await fixture.settling()
    await fixture.settle(made.id)
    const reports = [
      { received: eur('4000') },
      { received: eur('3000') },
      { received: eur('3000'), account: 'another account' },
      { received: eur('3000') },
    ]
    for (const report of reports) {
      const seen = (await fixture.payment(made.id)).version
      await fixture.read(made, fixture.says({ status: 'paid', ...report }))
      await expect(decide(made.id, 'write_off', { version: seen })).rejects.toMatchObject(CHANGED)
      const { version } = await fixture.payment(made.id)
      await fixture.read(made, fixture.says({ status: 'paid', ...report }))
      expect((await fixture.payment(made.id)).version).toBe(version)
    }
  })

  test('money that changed before it was sold revokes an acceptance', async () => {
    const made = await underpaid()
    await fixture.decide(made.id, 'settle')
    await fixture.act(made.attemptId, { action: 'reverse', receivedMinor: '5000' })
    await fixture.read(made)
    expect(await fixture.standing(made.id)).toBe('under_review too_little')
    await fixture.act(made.attemptId, { action: 'top_up', receivedMinor: '10000' })
    await fixture.read(made)
    expect(await fixture.standing(made.id)).toBe('processing')
  })
})
