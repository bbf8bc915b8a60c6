import { findOrInsertPerson, insertMembership } from '../../../src/db/accounts/people.ts'
import type { Tenant } from '../../../src/db/db.ts'
import { insertRequests } from '../../../src/db/merchants/requests.ts'
import { recordEvent } from '../../../src/db/webhooks/events.ts'
import type { Role } from '../../../src/domain/account/roles.ts'
import { newId } from '../../../src/ids.ts'
import { plantDispute } from './disputes.ts'
import { plantReceipt } from './receipts.ts'
import { plantRefund } from './refunds.ts'
import type { Merchant, TestApi } from './test-api.ts'

/**
 * One object of every type that a merchant can have, made through the API except for event, receipt, and a settled
 * payment with its refund, which the worker records.
 */
export type SeededApi = {
  readonly merchant: Merchant
  readonly payment: string
  readonly settled: string
  readonly refund: string
  readonly dispute: string
  /** A dispute that no request but its own answers: one answer of a dispute is open at a time. */
  readonly acceptable: string
  readonly link: string
  readonly endpoint: string
  readonly event: string
  readonly apiKey: string
  readonly loggedRequest: string
  readonly channel: string
  /** A person of the account with the role of a viewer, besides its owner. */
  readonly member: string
  readonly invited: string
}

export const HOOK_URL = 'https://shop.example/hooks'
const SLACK_URL = 'https://hooks.slack.com/services/T0001/B0001/secretOfSlack'

export async function seedApi(testApi: TestApi, merchant: Merchant = testApi): Promise<SeededApi> {
  const { key, tenant } = merchant
  const make = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const answer = await testApi.ask('POST', path, { body, key })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`)
    return answer.body
  }
  // Before the endpoint, which gets events of the other payment alone.
  const planted = await plantRefund(testApi.db, tenant)
  const attemptId = await findAttempt(testApi, planted.settled)
  const { id: dispute } = await plantDispute(testApi.db, tenant, { attemptId })
  const { id: acceptable } = await plantDispute(testApi.db, tenant, { attemptId, id: 'du_2' })
  const payment = await make('/v1/payments', { amount: '49.99', currency: 'EUR', reference: 'order-1' })
  const link = await make('/v1/payment_links', { title: 'Tasting box', amount: 64, currency: 'EUR' })
  const endpoint = await make('/v1/webhook_endpoints', { url: HOOK_URL, enabled_events: ['*'] })
  const apiKey = await make('/v1/api_keys', { name: 'spare', scopes: ['payments:read'] })
  const channel = await make('/v1/notification_channels', { kind: 'slack', name: '#payments', webhook_url: SLACK_URL })
  const invited = `${newId('person').slice(4)}@shop.example`
  await make('/v1/invitations', { email: invited, role: 'viewer' })
  const [, member] = [await addPerson(testApi, merchant, 'owner'), await addPerson(testApi, merchant, 'viewer')]
  const at = new Date().toISOString()
  const about = { type: 'payment.expired', paymentId: String(payment['id']), object: payment, at }
  const loggedRequest = await plantRequest(testApi.db, tenant)
  await plantReceipt(testApi.db, String(payment['id']))
  const event = await testApi.db.transaction((tx) => recordEvent(tx, { ...tenant, ...about }))
  return {
    merchant,
    payment: String(payment['id']),
    ...planted,
    dispute,
    acceptable,
    link: String(link['id']),
    endpoint: String(endpoint['id']),
    event: String(event),
    apiKey: String(apiKey['id']),
    loggedRequest,
    channel: String(channel['id']),
    member,
    invited,
  }
}

/** The request log is written in the background, so a row is planted. */
export async function plantRequest(db: TestApi['db'], tenant: Tenant): Promise<string> {
  const id = newId('request')
  const request = { method: 'GET', path: '/v1/payments', status: 200, durationMs: 3, code: null }
  const bodies = { sent: null, answered: null }
  await insertRequests(db, [{ id, ...tenant, keyId: 'seeded', ...request, ...bodies, at: new Date().toISOString() }])
  return id
}

async function findAttempt({ db }: Pick<TestApi, 'db'>, paymentId: string): Promise<string> {
  const { rows } = await db.query('select id from attempt where payment_id = $1', [paymentId])
  return String(rows[0]?.id)
}

export async function addPerson(
  testApi: Pick<TestApi, 'db'>,
  { tenant }: Pick<Merchant, 'tenant'>,
  role: Role,
): Promise<string> {
  const id = newId('person')
  await testApi.db.transaction(async (tx) => {
    await findOrInsertPerson(tx, { id, email: `${id.slice(4)}@people.example` })
    await insertMembership(tx, { merchantId: tenant.merchantId, personId: id, role })
  })
  return id
}

/** A request for an operation that works on existing objects. */
export type Row = { readonly path: string; readonly body?: unknown }

/** One row for every operation: a missing row fails the tests. */
export function rowsFor(seeded: SeededApi): Readonly<Record<string, Row>> {
  const { payment, settled, refund, dispute, acceptable, link, endpoint, event, apiKey, loggedRequest } = seeded
  return {
    ...accountRows(seeded),
    createPayment: { path: '/v1/payments', body: { amount: 49.99, currency: 'EUR' } },
    listPayments: { path: '/v1/payments' },
    readPayment: { path: `/v1/payments/${payment}` },
    readPaymentReceipt: { path: `/v1/payments/${payment}/receipt` },
    readPaymentTimeline: { path: `/v1/payments/${payment}/timeline` },
    updatePayment: { path: `/v1/payments/${payment}`, body: { reference: 'order-2' } },
    cancelPayment: { path: `/v1/payments/${payment}/cancel` },
    createRefund: { path: `/v1/payments/${settled}/refunds`, body: { amount: 10 } },
    listPaymentRefunds: { path: `/v1/payments/${settled}/refunds` },
    listRefunds: { path: '/v1/refunds' },
    readRefund: { path: `/v1/refunds/${refund}` },
    fundRefund: { path: `/v1/refunds/${refund}/fund`, body: { signature: `0x${'5a'.repeat(65)}` } },
    listDisputes: { path: '/v1/disputes' },
    readDispute: { path: `/v1/disputes/${dispute}` },
    submitDisputeEvidence: { path: `/v1/disputes/${dispute}/evidence`, body: { explanation: 'Signed.' } },
    acceptDispute: { path: `/v1/disputes/${acceptable}/accept` },
    cancelRefund: { path: `/v1/refunds/${refund}/cancel` },
    createPaymentLink: { path: '/v1/payment_links', body: { title: 'Tip jar', currency: 'EUR' } },
    listPaymentLinks: { path: '/v1/payment_links' },
    readPaymentLink: { path: `/v1/payment_links/${link}` },
    updatePaymentLink: { path: `/v1/payment_links/${link}`, body: { title: 'Mine' } },
    deactivatePaymentLink: { path: `/v1/payment_links/${link}/deactivate` },
    listProviders: { path: '/v1/providers' },
    readQuote: { path: '/v1/quotes?amount=49.99&currency=EUR' },
    previewRoutes: { path: '/v1/routes/preview', body: { amount: 49.99, currency: 'EUR' } },
    listEvents: { path: '/v1/events' },
    readEvent: { path: `/v1/events/${event}` },
    createWebhookEndpoint: { path: '/v1/webhook_endpoints', body: { url: HOOK_URL } },
    listWebhookEndpoints: { path: '/v1/webhook_endpoints' },
    readWebhookEndpoint: { path: `/v1/webhook_endpoints/${endpoint}` },
    updateWebhookEndpoint: { path: `/v1/webhook_endpoints/${endpoint}`, body: { description: 'Mine' } },
    deleteWebhookEndpoint: { path: `/v1/webhook_endpoints/${endpoint}` },
    rotateWebhookSecret: { path: `/v1/webhook_endpoints/${endpoint}/rotate_secret`, body: {} },
    listDeliveries: { path: `/v1/webhook_endpoints/${endpoint}/deliveries` },
    testWebhookEndpoint: { path: `/v1/webhook_endpoints/${endpoint}/test` },
    redeliverEvent: { path: `/v1/webhook_endpoints/${endpoint}/deliveries/${event}/redeliver` },
    diagnoseDelivery: { path: `/v1/webhook_endpoints/${endpoint}/deliveries/${event}/diagnose` },
    redeliverFailed: {
      path: `/v1/webhook_endpoints/${endpoint}/redeliver_failed`,
      body: { since: '2026-01-01T00:00:00Z' },
    },
    createApiKey: { path: '/v1/api_keys', body: { name: 'more' } },
    listApiKeys: { path: '/v1/api_keys' },
    rotateApiKey: { path: `/v1/api_keys/${apiKey}/rotate`, body: {} },
    // The paths of what else was asked for name objects of others.
    listRequests: { path: '/v1/requests?path=/v1/requests' },
    readRequest: { path: `/v1/requests/${loggedRequest}` },
    revokeApiKey: { path: `/v1/api_keys/${apiKey}` },
    readAccount: { path: '/v1/account' },
    applyForAccount: {
      path: '/v1/account/application',
      body: { web_address: 'https://shop.example', sells: 'Tickets' },
    },
    readWallet: { path: '/v1/settings/wallet' },
    setWallet: { path: '/v1/settings/wallet', body: { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' } },
    readBrand: { path: '/v1/settings/brand' },
    readDeductions: { path: '/v1/settings/deductions' },
    setDeductions: { path: '/v1/settings/deductions', body: { limit_usdc: 500 } },
    readEmbedding: { path: '/v1/settings/embedding' },
    setEmbedding: { path: '/v1/settings/embedding', body: { origins: ['https://shop.example'] } },
    setBrand: { path: '/v1/settings/brand', body: { color: '#123456' } },
    stopWalletChange: { path: '/v1/settings/wallet/stop_change' },
    skipTime: { path: `/v1/test/payments/${payment}/skip_time`, body: { seconds: 60 } },
    simulatePayment: { path: `/v1/test/payments/${payment}/simulate`, body: { action: 'pay' } },
  }
}

function accountRows({ channel, member, invited }: SeededApi): Readonly<Record<string, Row>> {
  const at = `/v1/notification_channels/${channel}`
  return {
    createNotificationChannel: {
      path: '/v1/notification_channels',
      body: { kind: 'slack', name: '#more', webhook_url: SLACK_URL },
    },
    listNotificationChannels: { path: '/v1/notification_channels' },
    readNotificationChannel: { path: at },
    updateNotificationChannel: { path: at, body: { name: '#mine' } },
    deleteNotificationChannel: { path: at },
    listChannelMessages: { path: `${at}/messages` },
    testNotificationChannel: { path: `${at}/test` },
    resumeNotificationChannel: { path: `${at}/resume` },
    listMembers: { path: '/v1/members' },
    updateMember: { path: `/v1/members/${member}`, body: { role: 'support' } },
    removeMember: { path: `/v1/members/${member}` },
    listInvitations: { path: '/v1/invitations' },
    inviteMember: { path: '/v1/invitations', body: { email: 'one.more@shop.example', role: 'viewer' } },
    withdrawInvitation: { path: `/v1/invitations/${invited}` },
    listAuditLog: { path: '/v1/audit_log' },
    exportPayments: { path: '/v1/exports/payments' },
    exportStatement: { path: '/v1/exports/statement?period=2026-11' },
  }
}
