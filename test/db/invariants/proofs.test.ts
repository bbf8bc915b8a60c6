import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { type DecisionOrder, type DecisionResult, decide } from '../../../src/activities/payment/decision.ts'
import type { PaymentDeps } from '../../../src/activities/payment/payment-deps.ts'
import { PROOF_USED } from '../../../src/domain/payment/decision.ts'
import { type BooksFixture, createBooksFixture, type Ids } from './books-fixture.ts'

let fixture: BooksFixture
beforeAll(async () => {
  fixture = await createBooksFixture()
})
afterAll(() => fixture.close())

/** The dependencies of a decision: no partner is asked, and no payout was handed over. */
const deps = (): PaymentDeps =>
  ({ db: fixture.db, context: fixture.context, payouts: { void: async () => 'none', open: async () => null } }) as never

/** Runs as Temporal would, including the second try. */
async function giveBackOutside({ id, attemptId }: Ids, proof: string): Promise<string> {
  const { version } = (await fixture.state(id)).payment
  const signed = { operator: 'ada', reason: 'the bank says so', version }
  const order: DecisionOrder = { ...signed, paymentId: id, say: 'give_back', attempt: attemptId, outside: true, proof }
  const perform = (attempt: number) =>
    new MockActivityEnvironment({ attempt }).run<[], DecisionResult, () => Promise<DecisionResult>>(() =>
      decide(deps(), order),
    )
  const { message } = await perform(1).catch((error: unknown) =>
    String(error).includes('decision_proof') ? perform(2) : Promise.reject(error),
  )
  return message
}

describe('One proof from outside', () => {
  test('a proof is accepted once if it is given for two payments at the same moment', async () => {
    const payments = [await fixture.paid('5000'), await fixture.paid('5000')]
    const proof = 'SEPA 2026-11-27 0815'
    const answers = await Promise.allSettled(payments.map((ids) => giveBackOutside(ids, proof)))
    const refused = answers.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
    expect(refused).toEqual([expect.stringContaining(PROOF_USED)])
    const states = await Promise.all(payments.map(({ id }) => fixture.state(id)))
    expect(new Set(states.map(({ attempts }) => attempts[0]?.outside))).toEqual(new Set(['0', '5000']))
    for (const { id } of payments) expect(await fixture.differences(id)).toEqual({})
  })

  test('a proof is not accepted again in another spelling, nor for the same payment', async () => {
    const [one, other] = [await fixture.paid('5000'), await fixture.paid('5000')]
    expect(await giveBackOutside(one, 'RF18 5390 0754')).toBe('give_back: recorded')
    await expect(giveBackOutside(other, 'rf18-53900754')).rejects.toThrow(PROOF_USED)
    await fixture.reads(one, { status: 'paid', received: { minor: '7000', currency: 'EUR' } })
    await expect(giveBackOutside(one, 'RF18-5390-0754')).rejects.toThrow(PROOF_USED)
    expect(await giveBackOutside(one, 'RF18 5390 0755')).toBe('give_back: recorded')
  })
})
