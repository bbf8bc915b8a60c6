import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { listDisputes } from '../../../src/db/disputes/disputes.ts'
import type { ReportedDispute } from '../../../src/domain/dispute/dispute.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { createMoneyFixture, eur, type Made, type MoneyFixture } from './money-fixture.ts'

let fixture: MoneyFixture
beforeAll(async () => {
  fixture = await createMoneyFixture()
})
afterAll(() => fixture.close())

const reported = (changes: Partial<ReportedDispute> = {}): ReportedDispute => ({
  id: 'du_1',
  kind: 'chargeback',
  status: 'needs_response',
  reason: 'fraudulent',
  reasonText: 'fraudulent, 10.4',
  amount: eur('10000'),
  takenMinor: '10000',
  fee: eur('2000'),
  openedAt: '2026-11-20T10:00:00.000Z',
  evidenceDueAt: '2026-12-04T10:00:00.000Z',
  isEvidenceSubmitted: false,
  answeredAt: 'api',
  ...changes,
})
const GONE = { status: 'declined', received: null, failureCode: 'reversed' } as const
const PAID = { status: 'paid', received: eur('10000'), failureCode: null } as const

const says = (made: Made, order: Partial<PartnerOrder>) => fixture.read(made, fixture.says(order))
const disputes = async ({ id }: Made) => {
  const { payment } = await fixture.state(id)
  const page = { limit: 20, after: null, before: null }
  return (await listDisputes(fixture.checkout.db, payment, { filters: { payment: id }, page })).rows
}
const settled = async (): Promise<Made> => {
  const made = await fixture.settling()
  await fixture.settle(made.id)
  return made
}
const disputeEvents = async ({ id }: Made) => (await fixture.events(id)).filter((type) => type.startsWith('dispute.'))
const bodies = async ({ id }: Made) =>
  (
    await fixture.checkout.db.query(
      `select convert_from(body, 'UTF8')::jsonb #> '{data,object}' as object from event
       where payment_id = $1 and type like 'dispute.%' order by sequence`,
      [id],
    )
  ).rows.map(({ object }) => object)

describe('Disputes of a payment', () => {
  test('a dispute is stored with its loss by the reading that books it, and the same reading again changes nothing', async () => {
    const made = await settled()
    for (let reading = 0; reading < 2; reading++) await says(made, { ...GONE, disputes: [reported()] })
    expect(await disputes(made)).toMatchObject([
      {
        partnerDispute: 'du_1',
        status: 'needs_response',
        takenMinor: '10000',
        fee: eur('2000'),
        fromReserveMicro: '0',
        fromPlatformMicro: '108000000',
        evidenceDueAt: '2026-12-04T10:00:00.000Z',
        closedAt: null,
        version: 1,
      },
    ])
    expect(await disputeEvents(made)).toEqual(['dispute.created'])
    expect(await bodies(made)).toMatchObject([
      { payment: made.id, cost: { taken: '100.00', fee: '20.00', from_platform_usdc: '108.000000' } },
    ])
    expect(await fixture.events(made.id)).toContain('payment.chargeback')
  })

  test('a dispute is updated, and closed once it is won', async () => {
    const made = await settled()
    await says(made, { ...GONE, disputes: [reported()] })
    await says(made, { ...GONE, disputes: [reported({ status: 'under_review', isEvidenceSubmitted: true })] })
    const won = { status: 'won', takenMinor: '0', fee: null, isEvidenceSubmitted: true } as const
    await says(made, { ...PAID, disputes: [reported(won)] })
    expect(await disputeEvents(made)).toEqual(['dispute.created', 'dispute.updated', 'dispute.closed'])
    const [dispute] = await disputes(made)
    expect(dispute).toMatchObject({ status: 'won', takenMinor: '0', fromPlatformMicro: '0', fee: null, version: 3 })
    expect(dispute?.evidenceSubmittedAt).not.toBeNull()
    expect(dispute?.closedAt).not.toBeNull()
  })

  test('an inquiry is stored although no money moves', async () => {
    const made = await settled()
    await says(made, { ...PAID, disputes: [reported({ kind: 'inquiry', takenMinor: '0', fee: null })] })
    expect(await disputes(made)).toMatchObject([{ kind: 'inquiry', fromPlatformMicro: '0' }])
    expect(await fixture.events(made.id)).not.toContain('payment.chargeback')
  })

  test('a partner that reports no disputes has a lost one for a reversal, which is won when the money is back', async () => {
    const made = await settled()
    await says(made, GONE)
    const [lost] = await disputes(made)
    expect(lost).toMatchObject({ status: 'lost', answeredAt: 'partner', takenMinor: '10000', evidenceDueAt: null })
    await says(made, PAID)
    expect(await disputes(made)).toMatchObject([{ id: lost?.id, status: 'won', takenMinor: '0' }])
    expect(await disputeEvents(made)).toEqual(['dispute.created', 'dispute.closed'])
  })

  test('an order that was never paid has no dispute', async () => {
    const made = await fixture.opened()
    await says(made, { status: 'declined', received: null, failureCode: 'reversed' })
    expect(await disputes(made)).toEqual([])
  })

  test('the unread callback of a dispute stays unread unless the dispute is stored', async () => {
    const made = await settled()
    const { db } = fixture.checkout
    await db.query(
      `insert into partner_callback (provider, provider_event_id, attempt_id, body_sha256, received_at)
       values ('wallet_app', $1, $1, sha256(''), now())`,
      [made.attemptId],
    )
    const isApplied = async () => {
      const { rows } = await db.query('select applied_at from partner_callback where attempt_id = $1', [made.attemptId])
      return rows.every(({ applied_at: at }) => at !== null)
    }
    await db.query(`create function die() returns trigger language plpgsql as $$ begin raise exception 'it died'; end $$;
      create trigger die before insert on dispute for each row execute function die()`)
    await expect(says(made, { ...GONE, disputes: [reported()] })).rejects.toThrow('it died')
    await db.query('drop trigger die on dispute; drop function die()')
    expect([await isApplied(), await fixture.held(made.id)]).toEqual([false, ['paid 10000']])
    await says(made, { ...GONE, disputes: [reported()] })
    expect([await isApplied(), (await disputes(made)).length]).toEqual([true, 1])
  })
})
