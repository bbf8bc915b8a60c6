import { afterEach, describe, expect, test } from '@jest/globals'
import { until } from '../../scripts/test/until.ts'
import type { CommandContext } from '../../src/operator/call.ts'
import { endRefund } from '../../src/operator/refunds/end.ts'
import { findDifferences } from '../support/differences.ts'
import { arrive, createRefund, decided, fund, refund, settledPayment, untilRefund } from '../workflows/refunds.ts'
import { fixture, payment, useFixture } from '../workflows/story.ts'

describe('An operator who ends a refund whose partner does not answer', () => {
  useFixture()
  const COMPARED = /^(refund|books_are|bookings|deposits_are|payment_is|proof_is)/
  afterEach(async () =>
    expect((await findDifferences(fixture.db)).filter((difference) => COMPARED.test(difference))).toEqual([]),
  )

  async function pendingRefund() {
    const sold = await settledPayment()
    const { attemptId } = sold
    await fixture.faultAt('wallet_app', { fault: 'refund_pending', attemptId, times: 1, seconds: 30 * 86_400 })
    const id = await createRefund(sold.paymentId, '20')
    await fund(id)
    await untilRefund(id, 'pending')
    return { ...sold, id }
  }
  const aged = (id: string) =>
    fixture.db.query(`update refund set asked_at = now() - interval '25 hours' where id = $1`, [id])

  async function end(id: string, outcome: string, options: CommandContext['options'] = {}): Promise<string[]> {
    const said: string[] = []
    const signed = { operator: 'ada', reason: 'they called', proof: `call about ${id}` }
    await endRefund({
      db: fixture.db,
      settings: { PUBLIC_URL: 'http://127.0.0.1:9' } as CommandContext['settings'],
      env: undefined,
      subjects: [id, outcome],
      options: { ...signed, ...options },
      say: (line) => void said.push(line),
      give: () => undefined,
    })
    return said
  }

  test.each([
    ['succeeded', 'required', 'the platform keeps'],
    ['failed', '0', 'goes back to the wallet of the payment'],
  ])('records that it has %s, with a proof, and the USDC goes that way', async (outcome, treasury, says) => {
    const { id, paymentId } = await pendingRefund()
    await aged(id)
    expect((await end(id, outcome)).join()).toContain(says)
    const { status, requiredMicro } = await refund(id)
    expect(status).toBe(outcome)
    expect(await decided(id)).toMatchObject({ treasury: treasury === 'required' ? requiredMicro : '0' })
    const { rows } = await fixture.db.query('select say, proof, operator from decision where payment_id = $1', [
      paymentId,
    ])
    expect(rows).toEqual([{ say: `refund_${outcome}`, proof: `call about ${id}`, operator: 'ada' }])
    const notes = (await fixture.timeline(paymentId)).map(({ kind, actor }) => `${kind} ${actor}`)
    expect(notes).toContain(`decision.refund_${outcome} operator`)
    expect(notes.join()).not.toContain('ada')
    // The partner answers after that: its order shows an excess, or a loss, and the refund stays as it is.
    await expect(end(id, outcome === 'failed' ? 'succeeded' : 'failed')).rejects.toThrow('no partner has to answer')
    await fixture.relay.wakeRefunds()
    await fixture.skip('2 hours')
    expect((await refund(id)).status).toBe(outcome)
  })

  test('refuses a refund that is not pending, or was asked about for less than a day', async () => {
    const { id, paymentId } = await pendingRefund()
    await expect(end(id, 'failed')).rejects.toThrow('less than a day ago')
    await expect(end(id, 'lost')).rejects.toThrow('the outcome is one of succeeded, failed')
    await expect(end(id, 'failed', { proof: ' ' })).rejects.toThrow('--proof')
    const open = await createRefund(paymentId, '5')
    await expect(end(open, 'failed')).rejects.toThrow('it is awaiting_funds')
    expect((await refund(id)).status).toBe('pending')
  })

  test('refuses a proof that was recorded before, in any spelling', async () => {
    const [one, other] = [await pendingRefund(), await pendingRefund()]
    for (const { id } of [one, other]) await aged(id)
    await end(one.id, 'succeeded', { proof: 'RF18 5390' })
    await expect(end(other.id, 'succeeded', { proof: 'rf-185390' })).rejects.toThrow('recorded for something else')
    expect((await refund(other.id)).status).toBe('pending')
  })

  test('lets one of two operators decide at the same moment', async () => {
    const { id } = await pendingRefund()
    await aged(id)
    const ends = await Promise.allSettled([
      end(id, 'succeeded', { proof: 'their mail' }),
      end(id, 'failed', { proof: 'their call' }),
    ])
    expect(ends.map(({ status }) => status).toSorted((a, b) => a.localeCompare(b))).toEqual(['fulfilled', 'rejected'])
    const { status, requiredMicro } = await refund(id)
    expect(await decided(id)).toMatchObject({ treasury: status === 'succeeded' ? requiredMicro : '0' })
    // USDC that arrives later goes back.
    await arrive(id, '7')
    expect((await refund(id)).status).toBe(status)
  })

  test('sees the loss if the partner gives the money back although the refund was recorded as failed', async () => {
    const { id, paymentId, attemptId } = await pendingRefund()
    await aged(id)
    await end(id, 'failed')
    await fixture.atPartner('wallet_app', attemptId, { action: 'reverse', receivedMinor: '2999' })
    await until(
      () => payment(paymentId),
      ({ lostMinor }) => lostMinor === '2000',
    )
    expect((await refund(id)).status).toBe('failed')
  })
})
