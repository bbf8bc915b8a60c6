import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
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
  expect((await approve(2)).payment.status).toBe('processing')
  for (const attempt of [2, 3]) await approve(attempt)
  expect(await world.attention(id)).toEqual(['chargeback'])

  const now = { ...order, version: (await world.payment(id)).version }
  await approve(1, now)
  await world.checkout.change(id, (work) => work.openIncident({ kind: 'outside_reversed', attemptId }))
  await approve(2, now)
  expect(await world.attention(id)).toEqual(['outside_reversed'])
})
