import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { closeMisfit, type PaymentWork } from '../../../src/db/payments/payment-changes.ts'
import type { OperatorDecision } from '../../../src/domain/payment/requests.ts'
import { createMoneyWorld, type MoneyWorld, NOTE } from './money-world.ts'
import { perform } from './world.ts'

/** Two operators who decide at the same moment: each decision waits for the lock of the row, and is judged by what it finds. */

let world: MoneyWorld
beforeAll(async () => {
  world = await createMoneyWorld()
})
afterAll(() => world.close())
afterEach(() => world.clearFaults())

const carryOut = (id: string, decision: OperatorDecision) =>
  decision === 'refund' ? world.refund(id) : world.decide(id, decision)

async function underpaid(): Promise<string> {
  return (await world.paid('6000')).id
}

async function held(): Promise<string> {
  const { id } = await world.paid()
  await world.decide(id, 'hold')
  return id
}

const PAID = ['merchant_payable EUR', 'partner_receivable EUR']
const GOES_ON: readonly string[] = ['processing']

test.each<[() => Promise<string>, OperatorDecision, OperatorDecision]>([
  [underpaid, 'approve', 'refund'],
  [underpaid, 'approve', 'recordExternalRefund'],
  [underpaid, 'refund', 'recordExternalRefund'],
  [held, 'release', 'refund'],
  [held, 'release', 'recordExternalRefund'],
])(
  '%p: of %s and %s at the same moment one is carried out, and the money is where it says',
  async (made, one, other) => {
    for (let round = 0; round < 3; round++) {
      const id = await made()
      const answers = await Promise.allSettled([carryOut(id, one), carryOut(id, other)])
      const done = answers.filter(({ status }) => status === 'fulfilled').length
      const { payment, parts, intents } = await world.state(id)
      const returns = parts.filter(({ kind }) => kind === 'return' || kind === 'return_outside').length
      expect(intents).toEqual([])
      expect([1, 2]).toContain(done)
      const books = (await world.books(id)).map((line) => line.replace(/ -?\d+$/, ''))
      if (GOES_ON.includes(payment.status)) expect([returns, books]).toEqual([0, PAID])
      else expect([payment.status, returns, books.includes('merchant_payable EUR')]).toEqual(['refunded', 1, false])
    }
  },
)

test('two refunds at the same moment ask the partner for one, and book it once', async () => {
  const id = await underpaid()
  await Promise.allSettled([world.refund(id), world.refund(id)])
  expect(await world.payment(id)).toMatchObject({ status: 'refunded' })
  expect(await world.parts(id)).toEqual(['6000 returned', '-6000 returned'])
  expect(await world.books(id)).toEqual([])
})

test('a release that is sent again lifts no hold that somebody else has placed meanwhile', async () => {
  const id = await held()
  const { version } = await world.payment(id)
  const release = (attempt: number) =>
    perform(world.activities().decide, { paymentId: id, decision: 'release', version, ...NOTE }, { attempt })
  expect((await release(1)).payment.status).toBe('processing')
  await world.decide(id, 'hold')
  await expect(release(1)).rejects.toMatchObject({
    message: expect.stringContaining('has changed since you looked at it'),
  })
  expect(await release(2)).toMatchObject({ unsure: true })
  expect(await world.payment(id)).toMatchObject({ held: true, status: 'under_review' })
})

test('a release and a hold at the same moment leave either, never a payment that goes on although it is held', async () => {
  const id = await held()
  await Promise.allSettled([world.decide(id, 'release'), world.decide(id, 'hold')])
  const { held: isHeld, status, parkReason } = await world.payment(id)
  expect(isHeld ? [status, parkReason] : [status]).toEqual(isHeld ? ['under_review', 'operator_hold'] : ['processing'])
})

test('an approval whose answer was lost closes no incident that nobody has looked at', async () => {
  const { id, attemptId } = await world.paid('6000')
  await world.checkout.change(id, (work) => work.openIncident({ kind: 'chargeback', attemptId }))
  const { version } = await world.payment(id)
  const order = { paymentId: id, decision: 'approve', version, ...NOTE } as const
  const approve = (attempt: number, on = order) => perform(world.activities().decide, on, { attempt })
  // The first try was cut off before it did anything.
  expect(await approve(2)).toMatchObject({ payment: { status: 'processing' }, message: 'approve: recorded' })
  for (const attempt of [2, 3])
    expect(await approve(attempt)).toMatchObject({
      message: 'approve: tried before, and the payment has changed since: its timeline says whether it was recorded',
      unsure: true,
    })
  expect(await world.attention(id)).toEqual(['chargeback'])

  const now = { ...order, version: (await world.payment(id)).version }
  await approve(1, now)
  await world.checkout.change(id, (work) => work.openIncident({ kind: 'outside_reversed', attemptId }))
  await approve(2, now)
  expect(await world.attention(id)).toEqual(['outside_reversed'])
})

describe('a refund that an operator made elsewhere is of the money that was looked at', () => {
  const record = (id: string, version: number, attempt = 1) =>
    perform(
      world.activities().decide,
      { paymentId: id, decision: 'recordExternalRefund', version, ...NOTE },
      { attempt },
    )
  const more = async (of: { id: string; attemptId: string }, receivedMinor: string) => {
    await world.act(of.attemptId, { action: 'top_up', receivedMinor })
    await world.read(of)
  }

  test('what has come since is not booked as returned, and stands before the operator', async () => {
    const made = await world.paid('6000')
    const seen = (await world.payment(made.id)).version
    await more(made, '7500')
    await expect(record(made.id, seen)).rejects.toMatchObject({
      message: expect.stringContaining('has changed since you looked at it'),
    })
    expect(await world.parts(made.id)).toEqual(['6000 counted', '1500 counted'])
    const now = (await world.payment(made.id)).version
    expect(await record(made.id, now)).toMatchObject({ refunded: true, message: 'recordExternalRefund: recorded' })
    expect(await world.payment(made.id)).toMatchObject({ status: 'refunded' })
    // Its answer was lost: it is another try, and nothing is booked once more.
    expect(await record(made.id, now, 2)).toMatchObject({ refunded: true, message: 'recordExternalRefund: recorded' })
    expect(await world.parts(made.id)).toEqual(['6000 returned', '1500 returned', '-7500 returned'])
  })

  test('another try that finds the payment changed, with money, does not say that it went back', async () => {
    const made = await world.paid('6000')
    const seen = (await world.payment(made.id)).version
    await more(made, '7500')
    const answer = await record(made.id, seen, 2)
    expect(answer).toMatchObject({ refunded: false, unsure: true, payment: { status: 'under_review' } })
    expect(await world.parts(made.id)).toEqual(['6000 counted', '1500 counted'])
  })
})

describe('whatever comes before an operator changes the version that an approval must name', () => {
  const refused = { message: expect.stringContaining('has changed since you looked at it') }
  const approve = async (id: string, version: number) =>
    perform(world.activities().decide, { paymentId: id, decision: 'approve', version, ...NOTE })
  const chargeback = (attemptId: string) => (work: PaymentWork) => work.openIncident({ kind: 'chargeback', attemptId })
  const misfit = (attemptId: string, received: string) => (work: PaymentWork) =>
    work.openIncident({
      kind: 'misfit',
      attemptId,
      misfit: {
        why: 'currency',
        status: 'paid',
        amount: { minor: '1', currency: 'USD' },
        received: { minor: received, currency: 'USD' },
      },
    })

  test.each([
    ['another incident', 'chargeback', 'misfit'],
    ['another amount of the same misfit', 'misfit', 'more'],
    ['an incident that goes by itself', 'misfit', 'gone'],
  ] as const)('%s', async (_name, first, then) => {
    const { id, attemptId } = await world.settling()
    await world.settle(id)
    const changes = {
      chargeback: chargeback(attemptId),
      misfit: misfit(attemptId, '5'),
      more: misfit(attemptId, '9'),
      gone: (work: PaymentWork) => closeMisfit(work, attemptId, 'gone'),
    }
    await world.checkout.change(id, changes[first])
    const seen = (await world.payment(id)).version
    await world.checkout.change(id, changes[then])
    const before = await world.attention(id)
    await expect(approve(id, seen)).rejects.toMatchObject(refused)
    expect(await world.attention(id)).toEqual(before)
    // What changes nothing does not stop it.
    const now = (await world.payment(id)).version
    await world.checkout.change(id, changes[then])
    expect((await world.payment(id)).version).toBe(now)
  })
})
