import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { listAudit } from '../../../src/db/accounts/audit.ts'
import { FUNDING_REFUSALS, REFUND_FAILURES, REFUND_STATUSES } from '../../../src/domain/refund/refund.ts'
import type { RefundFacts } from '../../../src/domain/refund/refund-change.ts'
import type { RecordedDeposit, ReturnedUsdc } from '../../../src/domain/settlement/deposit.ts'
import { newId } from '../../../src/ids.ts'
import { changeRefund } from '../../../src/payments/change-refund.ts'
import { createRefundHooks } from '../../../src/settlement/refund-hook.ts'
import { openRefundAddress, plantRefund } from '../support/refunds.ts'
import { openTestApi, type TestApi } from '../support/test-api.ts'
import { type Account, onceIn, openAccount } from './account.ts'
import { signIn } from './visitor.ts'

const ZERO = `0x${'0'.repeat(40)}` as const

/** Milliseconds by which the clock is ahead. */
let ahead = 0
let testApi: TestApi
let account: Account
let settled: string
let refund: string
beforeAll(async () => {
  testApi = await openTestApi({ deps: () => ({ clock: () => Date.now() + ahead }) })
  account = await openAccount(testApi, 'refunder@shop.example')
  ;({ settled, refund } = await plantRefund(testApi.db, account.tenant))
})
afterAll(() => testApi?.close())

const read = async (path: string): Promise<string> => stripTags((await account.owner.get(path)).html)
const change = (changes: string, id = refund) =>
  testApi.db.query(`update refund set ${changes}, version = version + 1 where id = $1`, [id])

function stripTags(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', '’')
    .replace(/\s+/g, ' ')
}

describe('A new refund in the dashboard', () => {
  test('shows what the buyer gets and what it costs before it is created, once', async () => {
    const { owner } = account
    expect((await owner.get(`/dashboard/payments/${settled}`)).html).toContain(
      `href="/dashboard/payments/${settled}/refund"`,
    )
    const path = `/dashboard/payments/${settled}/refund`
    expect((await owner.get(path)).html).toContain('value="39.99"')
    const quote = await owner.submit(path, { amount: '12', reason: 'One ticket' })
    expect(quote.status).toBe(200)
    const shown = stripTags(quote.html)
    expect(shown).toMatch(/The buyer gets back[^.]*12\.00 EUR Rate for 1 EUR 1\.25 USDC You pay 15\.000000 USDC/)
    expect(shown).toContain('the rate is locked for 60 minutes')
    expect(shown).toContain('Reason One ticket')
    const once = /name="once" value="([^"]+)"/.exec(quote.html)?.[1] ?? ''
    const create = () => owner.submit(`${path}s`, { amount: '12', reason: 'One ticket', once })
    const made = await create()
    expect([made.status, (await create()).to]).toEqual([303, made.to])
    expect(await read(made.to ?? '')).toMatch(/12\.00 EUR Waiting for USDC Its address for USDC is being made/)
    const payment = await read(`/dashboard/payments/${settled}`)
    expect(payment).toContain('0.00 EUR refunded, 27.99 EUR left to refund')
    expect(await read('/dashboard/refunds')).toMatch(/12\.00 EUR Waiting for USDC One ticket 15\.00 USDC/)
    await owner.submit(`${made.to}/cancel`)
    expect(await read(made.to ?? '')).toContain('It was canceled before it was paid for')
  })

  test.each([
    ['twelve', /Must be an amount of EUR, at most 39\.99 EUR/],
    ['0', /Must be an amount of EUR/],
    ['1.234', /[Dd]ecimal/],
    ['40', /Must be at most 39\.99 EUR: no more of the payment is left to refund/],
  ])('explains why it cannot refund %j', async (amount, expected) => {
    const refused = await account.owner.submit(`/dashboard/payments/${settled}/refund`, { amount, reason: '' })
    expect(refused.status).toBe(400)
    expect(stripTags(refused.html)).toMatch(expected)
    expect(refused.html).toContain(`value="${amount}"`)
  })

  test('refuses an amount that another person has refunded since the quote was shown', async () => {
    const once = await onceIn(account.owner, '/dashboard/payments/new')
    const form = { amount: '39.99', reason: '', once }
    const first = await account.owner.submit(`/dashboard/payments/${settled}/refunds`, form)
    const second = await account.owner.submit(`/dashboard/payments/${settled}/refunds`, { ...form, once: 'other' })
    expect([first.status, second.status]).toEqual([303, 400])
    const shown = stripTags(second.html)
    expect(shown).toContain('This payment cannot be refunded here. Everything is refunded already')
    await account.owner.submit(`${first.to}/cancel`)
  })

  test('is not offered for a payment without settled money, and the reason is shown', async () => {
    const open = await account.pay({ amount: '10.00', currency: 'EUR' })
    expect((await account.owner.get(`/dashboard/payments/${open}`)).html).not.toContain(`${open}/refund"`)
    expect(await read(`/dashboard/payments/${open}/refund`)).toContain('Its money is not confirmed')
    await testApi.db.query(`update payment set provider_used = 'crypto' where id = $1`, [open])
    expect(await read(`/dashboard/payments/${open}/refund`)).toContain('Ask the buyer for an address')
  })
})

describe('A refund before the settlement in the dashboard', () => {
  test('gives the whole payment back, once, and shows that it costs nothing', async () => {
    const { owner } = account
    const paid = await account.pay({ amount: '49.99', currency: 'EUR' })
    const attempt = newId('attempt')
    await testApi.db.query(
      `insert into attempt (id, payment_id, provider, method, status, amount_minor, currency, held, created_at, updated_at)
       values ($1, $2, 'wallet_app', 'banking_app', 'paid', 4999, 'EUR', 4999, now(), now())`,
      [attempt, paid],
    )
    await testApi.db.query(
      `update payment set status = 'processing', provider_used = 'wallet_app', paid_attempt_id = $2, charge_currency = 'EUR',
         confirmed_minor = 4999 where id = $1`,
      [paid, attempt],
    )
    const path = `/dashboard/payments/${paid}/refund`
    expect((await owner.get(`/dashboard/payments/${paid}`)).html).toContain(`href="${path}"`)
    const { html } = await owner.get(path)
    expect(stripTags(html)).toContain('The payment is not settled yet, so the whole 49.99 EUR go back to the buyer')
    expect(html).not.toContain('name="amount" value="49.99"')
    const once = /name="once" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const create = () => owner.submit(`${path}s`, { amount: '', reason: 'Sold out', once })
    const made = await create()
    expect([made.status, (await create()).to]).toEqual([303, made.to])
    const page = await owner.get(made.to ?? '')
    expect(stripTags(page.html)).toContain('have the partner give the whole payment back')
    expect(page.html).not.toMatch(/data-sign|ethereum:|\/cancel"|You pay</)
    const again = await owner.submit(`${path}s`, { amount: '', reason: '', once: 'other' })
    expect(again.status).toBe(400)
    await testApi.db.query(`update payment set status = 'refunded', payout = 'void' where id = $1`, [paid])
    expect(await read(`/dashboard/payments/${paid}`)).toContain('49.99 EUR refunded, nothing left to refund')
    await change(`status = 'failed', status_reason = 'payment_changed', due_at = null`, made.to?.split('/').at(-1))
    expect(await read(made.to ?? '')).toContain('The payment was settled, or its money changed')
    // Our team still has the money: a merchant who pays as well pays the buyer twice.
    await change(`status_reason = 'refused'`, made.to?.split('/').at(-1))
    expect(await read(made.to ?? '')).toContain('Do not pay the buyer yourself')
  })
})

describe('The page of a refund', () => {
  const path = () => `/dashboard/refunds/${refund}`

  test('leads through the ways to pay: a signature of the wallet, or a transfer of what is missing', async () => {
    await openRefundAddress(testApi.db, refund)
    const { html } = await account.owner.get(path())
    const typed = JSON.parse(/data-sign="([^"]+)"/.exec(html)?.[1]?.replaceAll('&quot;', '"') ?? '{}')
    expect(typed).toMatchObject({ primaryType: 'TransferWithAuthorization', message: { value: '10800000' } })
    expect(stripTags(html)).toContain('Pay 10.800000 USDC until')
    expect(html).toMatch(
      /href="ethereum:0x[0-9a-fA-F]{40}@31337\/transfer\?address=0x[0-9a-fA-F]{40}&amp;uint256=10800000"/,
    )
    await change(`received_micro = 4000000`)
    const part = (await account.owner.get(path())).html
    expect(stripTags(part)).toContain('4.000000 USDC arrived. Send the missing 6.800000 USDC until')
    expect(part).toContain('uint256=6800000"')
    expect(part).not.toContain('data-sign')
    await change(`received_micro = 0`)
  })

  test('refuses a text that is no signature, takes a signature, and logs that without the signature', async () => {
    const wrong = await account.owner.submit(`${path()}/fund`, { signature: '0x12' })
    expect(wrong.status).toBe(400)
    expect(stripTags(wrong.html)).toContain('Must be 0x and 65 to 4096 bytes in hexadecimal digits')
    const signed = await account.owner.submit(`${path()}/fund`, { signature: `0x${'5a'.repeat(65)}` })
    expect([signed.status, signed.to]).toEqual([303, path()])
    expect(await read(path())).toContain('We have your signature, and are sending the transfer')
    const [entry] = await listAudit(testApi.db, account.tenant.merchantId, { limit: 1 })
    expect(entry).toMatchObject({ action: 'fundRefund', data: { id: refund } })
    expect(JSON.stringify(entry)).not.toContain('5a5a')
  })

  test.each(Object.keys(FUNDING_REFUSALS))('says what to do if the token refuses the transfer: %s', async (refusal) => {
    await change(`funding_refusal = '${refusal}'`)
    const page = await read(path())
    expect(page).toContain('Your signed transfer cannot be sent. See below what to do')
    expect(page).toMatch(/Send|Sign again|Wait|Create another/)
    expect(page.includes('Sign with your wallet')).toBe(refusal === 'invalid_signature')
    await change(`funding_refusal = null`)
  })

  test('asks for no more USDC when the time to pay is over, and explains why a signature is too late', async () => {
    ahead = 366 * 86_400_000
    // The session of the owner would be over too.
    const again = await openAccount(testApi, 'late@shop.example')
    const planted = await plantRefund(testApi.db, again.tenant)
    await openRefundAddress(testApi.db, planted.refund)
    await change(`expires_at = now()`, planted.refund)
    const late = `/dashboard/refunds/${planted.refund}`
    const { html } = await again.owner.get(late)
    expect(stripTags(html)).toContain('The time to pay is over')
    expect(html).not.toMatch(/data-sign|ethereum:/)
    const signed = await again.owner.submit(`${late}/fund`, { signature: `0x${'5a'.repeat(65)}` })
    expect(signed.status).toBe(400)
    expect(stripTags(signed.html)).toContain('The time to pay for the refund is over. Create another one.')
    ahead = 0
  })

  test('explains each status, and each reason for a failure', async () => {
    const seen = new Set<string>()
    const see = async (changes: string) => {
      const planted = await plantRefund(testApi.db, account.tenant)
      await change(changes, planted.refund)
      const { html } = await account.owner.get(`/dashboard/refunds/${planted.refund}`)
      seen.add(/<span class="lead">([^<]+)/.exec(html)?.[1] ?? '')
    }
    for (const status of REFUND_STATUSES.filter((one) => one !== 'failed')) {
      const isOver = ['succeeded', 'canceled', 'expired'].includes(status)
      await see(`status = '${status}', received_micro = 10800000${isOver ? ', due_at = null' : ''}`)
    }
    for (const why of Object.keys(REFUND_FAILURES))
      await see(`status = 'failed', status_reason = '${why}', due_at = null`)
    expect(seen.size).toBe(REFUND_STATUSES.length - 1 + Object.keys(REFUND_FAILURES).length)
  })

  test('offers a viewer no button, and lets a viewer do nothing', async () => {
    await change('signed_at = null')
    const email = 'refund-viewer@shop.example'
    await signIn(testApi, email)
    await testApi.db.query(
      `insert into membership (merchant_id, person_id, role) select $1, id, 'viewer' from person where email = $2`,
      [account.tenant.merchantId, email],
    )
    const viewer = await signIn(testApi, email)
    const { html } = await viewer.get(path())
    expect(html).toContain('Pay 10.800000 USDC until')
    expect(html).not.toMatch(/action="[^"]*\/(?:fund|cancel)"/)
    expect((await viewer.get(`/dashboard/payments/${settled}`)).html).not.toContain(`${settled}/refund"`)
    for (const action of ['fund', 'cancel']) expect((await viewer.submit(`${path()}/${action}`)).status).toBe(403)
  })

  test('is not found by another account', async () => {
    const other = await openAccount(testApi, 'stranger@shop.example')
    for (const each of [path(), `/dashboard/refunds/re_nothing`, `/dashboard/payments/${settled}/refund`])
      expect((await other.owner.get(each)).status).toBe(404)
    expect((await other.owner.submit(`${path()}/cancel`)).status).toBe(404)
    expect((await other.owner.submit(`${path()}/fund`, { signature: `0x${'5a'.repeat(65)}` })).status).toBe(404)
  })

  test('explains why a refund whose USDC has arrived cannot be canceled', async () => {
    const planted = await plantRefund(testApi.db, account.tenant)
    await change(`status = 'funded', received_micro = 10800000, funded_at = now()`, planted.refund)
    const page = `/dashboard/refunds/${planted.refund}`
    expect((await account.owner.get(page)).html).not.toContain(`${page}/cancel`)
    const refused = await account.owner.submit(`${page}/cancel`)
    expect(refused.status).toBe(409)
    expect(stripTags(refused.html)).toContain('Too late to cancel: its USDC has arrived.')
  })
})

test('the list of refunds filters by status', async () => {
  const { owner } = await openAccount(testApi, 'filter@shop.example')
  expect((await owner.get('/dashboard/refunds')).html).toContain('No refunds yet')
  expect((await owner.get('/dashboard/refunds?status=failed')).html).toContain('No refunds found')
  const rows = async (status: string) =>
    [...(await account.owner.get(`/dashboard/refunds?status=${status}`)).html.matchAll(/row-link" href="([^"]+)"/g)]
      .length
  const [canceled, succeeded, nonsense] = [await rows('canceled'), await rows('succeeded'), await rows('nonsense')]
  expect([canceled, succeeded]).toEqual([3, 1])
  expect(nonsense).toBeGreaterThan(canceled + succeeded)
})

describe('The buyer', () => {
  test('sees refunds that are paid for on the page, the receipt and the PDF, and no others', async () => {
    const planted = await plantRefund(testApi.db, account.tenant)
    const look = async (path = '') => {
      const response = await fetch(`${testApi.url}/c/${planted.settled}${path}`, { headers: { accept: 'text/html' } })
      return { status: response.status, text: stripTags(await response.text()) }
    }
    expect((await look()).text).not.toMatch(/refund of|refunded/i)
    await change(`status = 'funded', received_micro = 10800000, funded_at = '2026-11-24T09:12:00Z'`, planted.refund)
    const coming = 'A refund of €10.00 is on its way to you. It goes back the way you paid: Banking app'
    expect((await look()).text).toContain(coming)
    expect((await look('/receipt')).text).toContain('Refund on its way €10.00 on 24 Nov 2026')
    await change(`status = 'pending', asked_at = now(), partner_key = 'key'`, planted.refund)
    expect((await look()).text).toContain(coming)
    await change(`status = 'succeeded', succeeded_at = '2026-11-25T09:12:00Z', due_at = null`, planted.refund)
    expect((await look()).text).toContain('€10.00 was refunded to you')
    expect((await look('/receipt')).text).toContain('Refunded €10.00 on 25 Nov 2026')
    expect((await look('/receipt.pdf')).status).toBe(200)
  })

  test.each([
    ['refused', true],
    ['money_gone', false],
  ])('is sent to the shop about a refund that failed as %s: %s', async (why, isShown) => {
    const planted = await plantRefund(testApi.db, account.tenant)
    await change(
      `status = 'failed', status_reason = '${why}', received_micro = 10800000, funded_at = now(), failed_at = now(), due_at = null`,
      planted.refund,
    )
    const page = await (await fetch(`${testApi.url}/c/${planted.settled}`)).text()
    expect(page.includes('A refund of €10.00 did not go through')).toBe(isShown)
  })
})

describe('The statement', () => {
  test('counts what refunds took on the day on which they succeeded, and equals the books to the micro-USDC', async () => {
    const { owner, tenant } = await openAccount(testApi, 'statement@shop.example')
    const context = { publicUrl: testApi.url, now: () => Date.parse('2026-10-31T23:59:59Z') }
    const hooks = createRefundHooks(context, () => undefined)
    const [first, second, third] = [
      await plantRefund(testApi.db, tenant),
      await plantRefund(testApi.db, tenant),
      await plantRefund(testApi.db, tenant),
    ]
    const move = (id: string, facts: RefundFacts, now = context.now) =>
      changeRefund(testApi.db, { ...context, now }, { id, change: ({ setRefund }) => setRefund(facts) })
    let transfers = 0
    const arrive = async ({ settled: paymentId, refund: id }: typeof first, units: string): Promise<void> => {
      transfers += 1
      const txHash = `0x${String(transfers).padStart(64, '0')}` as const
      const transfer = { txHash, logIndex: 0, units, token: ZERO, sender: ZERO }
      const deposit = { ...transfer, paymentId, expected: true } as unknown as RecordedDeposit
      await testApi.db.transaction((tx) => hooks.onRefundDeposit(tx, id, deposit))
    }
    for (const planted of [first, second, third]) {
      await openRefundAddress(testApi.db, planted.refund)
      await arrive(planted, '10800000')
    }
    // Too much: the second transfer goes back.
    await arrive(first, '700000')
    await testApi.db.transaction((tx) =>
      hooks.onReturned(tx, {
        refundId: first.refund,
        paymentId: first.settled,
        index: 0,
        micro: '700000',
        txHash: `0x${'b'.repeat(64)}`,
      } as ReturnedUsdc),
    )
    for (const { refund: id } of [first, second]) await move(id, { status: 'pending', partnerKey: 'key' })
    await move(first.refund, { status: 'succeeded' })
    await move(second.refund, { status: 'succeeded' }, () => Date.parse('2026-11-01T00:00:00Z'))
    await move(third.refund, { status: 'failed', statusReason: 'money_gone' })
    const file = async (month: string) =>
      (await owner.get(`/dashboard/balance.csv?month=${month}`)).html.trimEnd().split('\r\n').slice(1)
    const line = '0,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,1,10.800000,-10.800000'
    expect(await file('2026-10')).toEqual([`2026-10-31,${line}`, `sum,${line}`])
    expect(await file('2026-11')).toEqual([`2026-11-01,${line}`, `sum,${line}`])
    const { rows } = await testApi.db.query(
      `select kind, sum(amount)::text as micro from ledger_transaction t join ledger_entry on transaction_id = t.id
       join payment p on p.id = payment_id where merchant_id = $1 and amount > 0 and kind in ('deposited', 'refund_taken', 'returned')
       group by 1 order by 1`,
      [tenant.merchantId],
    )
    // What arrived is what the two refunds took, what went back, and what the third one must still give back.
    expect(rows).toEqual([
      { kind: 'deposited', micro: '33100000' },
      { kind: 'refund_taken', micro: '21600000' },
      { kind: 'returned', micro: '700000' },
    ])
    const page = stripTags((await owner.get('/dashboard/balance?by=month')).html)
    expect(page).toMatch(/Refunds Total .*−10\.800000 −10\.800000/)
  })
})
