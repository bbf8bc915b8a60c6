import type { Browser } from 'playwright-core'
import { onFreePort } from '../../../scripts/system/ports.ts'
import { type ApiRequest, insertRequests } from '../../../src/db/merchants/requests.ts'
import { recordEvent } from '../../../src/db/webhooks/events.ts'
import { pressOn } from '../../api/links/maker.ts'
import { askToConfirm, signUp } from '../../api/site/visitor.ts'
import { plantDispute } from '../../api/support/disputes.ts'
import { openRefundAddress, plantRefund } from '../../api/support/refunds.ts'
import { openTestApi, type TestApi } from '../../api/support/test-api.ts'
import { collectComplaints } from '../../support/browser.ts'
import { findFaults, LOOKS, newExaminedPage, openFolds } from '../faults.ts'
import { PAGES } from './pages.ts'

/** An API with one merchant, and a browser page in which the owner is signed in. */
export async function openDashboard(browser: Browser) {
  let origin = ''
  const requests: ApiRequest[] = []
  const testApi = await onFreePort((port) => {
    // A host name, because browsers make no passkeys for an IP address.
    origin = `http://localhost:${port}`
    return openTestApi({
      port,
      deps: (composed) => ({
        publicUrl: origin,
        onRequest: (request) => void requests.push(request),
        deliveries: {
          ...composed.deliveries,
          diagnose: async () => ({ cause: 'undecoded_secret', detail: 'with `whsec_`', requests: 14 }),
        },
      }),
    })
  })
  const { session, asked, refund } = await furnish(testApi)
  await insertRequests(testApi.db, requests)
  const page = await newExaminedPage(browser)
  await page.context().addCookies([{ name: 'pinrail_session', value: session, url: origin }])
  const complaints = collectComplaints(page, origin)
  return {
    testApi,
    origin,
    /** The session of the owner, and a refund that waits for USDC. */
    session,
    refund,
    async findFaults(name: string, looks = LOOKS): Promise<string[]> {
      const found = PAGES.find(([known]) => known === name)
      if (found === undefined) throw new Error(`no page is named ${name}`)
      const [, path, press] = found
      await page.goto(`${origin}${name === 'confirm' ? `${path}?asked=${asked}` : path}`)
      await press?.(page)
      await page.evaluate(openFolds)
      const faults = await findFaults(page, name, { looks })
      // A form that is sent back answers 400, which the console calls an error.
      return [...faults, ...complaints.splice(0).filter((text) => !text.includes('status of 400'))]
    },
    async close(): Promise<void> {
      await page.close()
      await testApi.close()
    },
  }
}

/** The first account of anvil, whose key everybody knows. */
export const PAID_WALLET = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

/**
 * A person with an account, payments in several states, and a refund. Returns the session's cookie and a request to
 * confirm.
 */
async function furnish(testApi: TestApi): Promise<{ session: string; asked: string; refund: string }> {
  const email = `owner-${Math.random()}@shop.example`
  const owner = await signUp(testApi, email)
  const { rows } = await testApi.db.query(
    `select merchant_id from membership join person on person.id = person_id where email = $1`,
    [email],
  )
  const tenant = { merchantId: String(rows[0]?.merchant_id), livemode: false }
  const { key } = await testApi.addKey(tenant)
  await testApi.ask('PUT', '/v1/settings/wallet', {
    key,
    body: { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
  })
  const ids: string[] = []
  for (const [amount, currency, reference] of [
    ['49.90', 'EUR', 'Order 10482'],
    ['1249.00', 'SEK', 'Order 10481'],
    ['4250.00', 'INR', 'Order 10480'],
    ['312.00', 'EUR', 'Invoice 2291'],
  ]) {
    const body = { amount, currency, reference, description: 'Guji washed, 2 bags of the good one' }
    ids.push(String((await testApi.ask('POST', '/v1/payments', { key, body })).body['id']))
  }
  await testApi.db.query(
    `update payment set status = 'succeeded', gross_micro = 57882574, fee_micro = 2604715, net_micro = 55277859,
       rate = '1.1599714406', rate_source = 'test', rate_locked_at = now(), charge_currency = currency,
       confirmed_minor = amount_minor, method_used = 'banking_app', provider_used = 'wallet_app', paid_at = now(),
       succeeded_at = now(), finalized_at = now(), block_number = 78412755, log_index = 3, closed_at = now(),
       tx_hash = '0x67194b7b1beb5a7ddef66b34fa60b81a5fc5bb6d0c35a40c4e2f01fa634723f2' where id = $1`,
    [ids[0]],
  )
  const review = { reason: 'withheld', attemptId: null, text: 'The partner withholds 312.00 EUR.' }
  await testApi.db.query(
    `update payment set status = 'under_review', status_reason = 'withheld', reviews = $2, review_since = now()
     where id = $1`,
    [ids[3], JSON.stringify([review])],
  )
  const { settled, refund } = await plantRefund(testApi.db, tenant, { destination: PAID_WALLET })
  await openRefundAddress(testApi.db, refund)
  const paid = await testApi.db.query('select id from attempt where payment_id = $1', [settled])
  const attemptId = String(paid.rows[0]?.id)
  await plantDispute(testApi.db, tenant, { attemptId })
  const lost = { status: 'lost', answeredAt: 'partner', amount: { minor: '1200', currency: 'EUR' }, fee: null } as const
  await plantDispute(testApi.db, tenant, { attemptId, id: 'du_2', ...lost, takenMinor: '1200' })
  await testApi.db.query(
    `update payment set gross_micro = 53989200, fee_micro = 2429514, net_micro = 51559686, rate = '1.08',
       rate_source = 'test', rate_locked_at = now(), method_used = 'banking_app', paid_at = now(), finalized_at = now(),
       reference = 'Order 10477', closed_at = now() where id = $1`,
    [settled],
  )
  await furnishDevelopers(testApi, key)
  await testApi.ask('POST', '/v1/payments', { key, body: { amount: '12.345', currency: 'EUR' } })
  await furnishLinks(testApi, key)
  const about = { ...tenant, paymentId: String(ids[0]), object: { id: ids[0], reference: 'Order 10482' } }
  const at = new Date().toISOString()
  for (const type of ['payment.processing', 'payment.under_review'] as const)
    await testApi.db.transaction((tx) => recordEvent(tx, { ...about, type, at }))
  await testApi.db.query(
    `update delivery set status = 'delivered', attempts = 1, last_attempt_at = now()
     where event_id in (select id from event where type = 'payment.processing')`,
  )
  // As in live mode, where a change waits.
  await testApi.db.query(
    `update wallet set next_address = '0x90F79bf6EB2c4f870365E785982E1f101E93b906', next_at = now() + interval '17 hours'
     where merchant_id = $1`,
    [tenant.merchantId],
  )
  const asked = await askToConfirm(testApi, owner)
  await testApi.db.query('update session set confirmed_at = now()')
  return { session: owner.cookies.get('pinrail_session') ?? '', asked, refund }
}

/** Links of several kinds, one of them with a payment. */
async function furnishLinks(testApi: TestApi, key: string): Promise<void> {
  const make = async (body: object) => (await testApi.ask('POST', '/v1/payment_links', { key, body })).body
  await make({ title: 'October tasting box', amount: '64.00', currency: 'EUR', max_payments: 50 })
  await make({ title: 'Workshop, Mumbai', amount: '4250.00', currency: 'INR', provider: 'local_partner' })
  const gift = { title: 'Gift card', currency: 'USD', min_amount: 10, max_amount: 200, provider: 'card_partner' }
  const { code } = await make({ ...gift, description: 'For somebody who has everything', max_payments: 9 })
  await pressOn(testApi, `/l/${String(code)}`, { amount: '40' })
}

/** Keys of several kinds, one of them being rotated and one revoked. */
async function furnishDevelopers(testApi: TestApi, key: string): Promise<void> {
  const post = async (path: string, body: object): Promise<string> =>
    String((await testApi.ask('POST', path, { key, body })).body['id'])
  const keys = '/v1/api_keys'
  await post(keys, { name: 'Bookkeeping export', scopes: ['payments:read'], allowed_ips: ['192.0.2.0/24'] })
  await post(`${keys}/${await post(keys, { name: 'Shop server' })}/rotate`, {})
  await testApi.ask('DELETE', `${keys}/${await post(keys, { name: 'Laptop' })}`, { key })
  const url = 'https://shop.example/hooks'
  const endpoint = await post('/v1/webhook_endpoints', { url, description: 'Shop server', enabled_events: ['*'] })
  const { body } = await testApi.ask('POST', `/v1/webhook_endpoints/${endpoint}/test`, { key })
  await testApi.db.query(
    `insert into delivery_attempt (event_id, endpoint_id, number, at, duration_ms, response_status, response_headers, response_body)
     values ($1, $2, 1, now(), 1204, 503, '{"retry-after": "600"}', 'connection pool timeout')`,
    [body['event'], endpoint],
  )
  await testApi.db.query(`update delivery set attempts = 1, last_attempt_at = now(), status = 'exhausted'`)
  await testApi.db.query(`update webhook_endpoint set failing_since = now() where id = $1`, [endpoint])
}
