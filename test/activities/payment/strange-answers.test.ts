import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { recordPartnerEvent } from '../../../src/db/payments/partner-events.ts'
import { loadPayment } from '../../../src/db/payments/payments.ts'
import type { PartnerOrder } from '../../../src/domain/payment/partner.ts'
import { newId } from '../../../src/ids.ts'
import { counted } from './counted.ts'
import { type ActivityWorld, createActivityWorld, perform } from './world.ts'

let world: ActivityWorld
beforeAll(async () => {
  world = await createActivityWorld()
})
afterAll(() => world.close())

async function decide(id: string, decision: 'hold' | 'release' | 'approve'): Promise<void> {
  const { version } = (await loadPayment(world.checkout.db, id)).payment
  const note = { operator: 'ada', reason: 'looked at it', version }
  await perform(world.activities().decide, { paymentId: id, decision, ...note })
}

/** A payment whose 100.00 EUR the partner has confirmed, at 1.16 USDC. */
async function confirmed(): Promise<{ id: string; attemptId: string }> {
  const received = { minor: '10000', currency: 'EUR' } as const
  const { id } = await world.checkout.create({ amountText: '100.00', amount: received })
  const attemptId = newId('attempt')
  await world.checkout.change(id, async (work) => {
    await work.addAttempt({ id: attemptId, provider: 'wallet_app', method: 'banking_app', asked: received })
    await work.saveAttempt(attemptId, { status: 'confirmed' })
    await work.addPart(counted({ paymentId: id, attemptId }, received))
    await work.move('pending', { actor: 'buyer', message: 'opened' })
    const locked = { rate: '1.16', rateSource: 'test', rateLockedAt: work.at, paidAt: work.at }
    const money = { paidAttemptId: attemptId, chargeCurrency: 'EUR', confirmedMinor: received.minor }
    await work.move('processing', { actor: 'partner', message: 'confirmed' }, { ...money, ...locked })
  })
  return { id, attemptId }
}

const lines = async (id: string): Promise<string[]> => {
  const { rows } = await world.checkout.db.query(
    `select t.kind, e.account, e.asset, e.amount::text from ledger_transaction t
     join ledger_entry e on e.transaction_id = t.id where t.payment_id = $1 order by t.id, e.line`,
    [id],
  )
  return rows.map(({ kind, account, asset, amount }) => `${kind} ${account} ${asset} ${amount}`)
}
const usdcOf = (all: readonly string[]) => all.filter((line) => line.includes('USDC'))

describe('an answer that is none leaves the news unread', () => {
  const misfit = {
    attemptId: 'att_other',
    account: 'another account',
    reference: 'r',
    status: 'refunded',
    amount: { minor: '1', currency: 'EUR' },
    received: null,
    failureCode: null,
  } as const satisfies PartnerOrder

  test.each([
    ['the partner knows no such order now', null],
    ['the answer is about another order', misfit],
  ])('%s', async (_case, order) => {
    const { id, attemptId } = await confirmed()
    const { db } = world.checkout
    const event = {
      provider: 'wallet_app',
      eventId: newId('request'),
      attemptId,
      bodySha256: new Uint8Array(32),
    } as const
    await recordPartnerEvent(db, { ...event, at: new Date().toISOString() })
    const partners = {
      ...world.deps.partners,
      wallet_app: { ...world.deps.partners.wallet_app, readOrder: async () => order },
    }
    const read = await perform(world.activities({ partners }).readPartnerOrder, { paymentId: id, attemptId })
    expect(read.understood).toBe(false)
    expect((await loadPayment(db, id)).unread.has(attemptId)).toBe(true)
    expect((await loadPayment(db, id)).payment.status).toBe('processing')
  })
})

test('an answer from before more money came takes none of it away', async () => {
  const { id, attemptId } = await confirmed()
  const orderOf = (minor: string): PartnerOrder => ({
    attemptId,
    account: world.deps.accounts.wallet_app,
    reference: 'r',
    status: 'paid',
    amount: { minor: '10000', currency: 'EUR' },
    received: { minor, currency: 'EUR' },
    failureCode: null,
  })
  const read = (readOrder: () => Promise<PartnerOrder>) => {
    const partners = { ...world.deps.partners, wallet_app: { ...world.deps.partners.wallet_app, readOrder } }
    return perform(world.activities({ partners }).readPartnerOrder, { paymentId: id, attemptId })
  }
  await read(async () => orderOf('10000'))
  // While the first answer is on its way, a later one is read and written down.
  const late = await read(async () => {
    expect((await read(async () => orderOf('16000'))).understood).toBe(true)
    return orderOf('10000')
  })
  expect(late.understood).toBe(false)
  const { parts } = await loadPayment(world.checkout.db, id)
  expect(parts.map(({ units, state }) => `${units} ${state}`)).toEqual(['10000 counted', '6000 surplus'])
})

describe('a fill that comes while something else happens', () => {
  /** A converter that answers when it is let go. */
  function slowConverter(micro: string) {
    let release: () => void = () => undefined
    let reached: () => void = () => undefined
    const asked = new Promise<void>((resolve) => {
      reached = resolve
    })
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const convert = async () => {
      reached()
      await gate
      return { kind: 'filled', microUsdc: micro, reference: 'slow' } as const
    }
    return { converter: { ...world.deps.converter, convert }, asked, release: () => release() }
  }
  const fills = (micro: string) => ({
    ...world.deps.converter,
    convert: async () => ({ kind: 'filled', microUsdc: micro, reference: 'quick' }) as const,
  })

  test('a hold: the fill is on record and owned, and is what counts after the release', async () => {
    const { id } = await confirmed()
    const slow = slowConverter('116000000')
    const converting = perform(world.activities({ converter: slow.converter }).convertToUsdc, {
      paymentId: id,
      last: false,
    })
    await slow.asked
    await decide(id, 'hold')
    slow.release()
    await converting
    expect(usdcOf(await lines(id))).toEqual([
      'fill_suspended conversion USDC 116000000',
      'fill_suspended suspense USDC -116000000',
    ])
    expect((await loadPayment(world.checkout.db, id)).payment).toMatchObject({
      status: 'under_review',
      fill: { micro: '116000000', reference: 'slow', accepted: false },
    })
    await decide(id, 'release')
    await perform(world.activities({ converter: fills('1') }).convertToUsdc, { paymentId: id, last: false })
    expect((await loadPayment(world.checkout.db, id)).payment.usdc).toEqual({
      gross: '116000000',
      fee: '5220000',
      net: '110780000',
    })
  })

  test('another answer to the same key: the one on record counts, and suspense is left empty', async () => {
    const { id } = await confirmed()
    const slow = slowConverter('7000000')
    const converting = perform(world.activities({ converter: slow.converter }).convertToUsdc, {
      paymentId: id,
      last: false,
    })
    await slow.asked
    await perform(world.activities({ converter: fills('5000000') }).convertToUsdc, { paymentId: id, last: false })
    await decide(id, 'approve')
    slow.release()
    await converting
    const suspense = (await lines(id)).filter((line) => line.includes('suspense USDC'))
    expect(suspense.map((line) => BigInt(line.split(' ').at(-1) ?? '0')).reduce((a, b) => a + b, 0n)).toBe(0n)
    expect(await lines(id)).toContain('converted conversion USDC 5000000')
  })
})
