import {
  type Answer,
  type Body,
  type ClientOptions,
  createTransport,
  pause,
  type Query,
  type Transport,
} from './transport.ts'
import { createWait } from './wait.ts'
import { createWebhookHandler, signWebhook, verifyWebhook } from './webhooks.ts'

/** A typed client of the merchant's API: `createPinrail({ apiKey, baseUrl })`. It needs only what browsers, Node and workers have. */
export type Pinrail = ReturnType<typeof createPinrail>

/** Replaces the random Idempotency-Key that every POST gets. */
export type Once = { readonly idempotencyKey?: string }

export function createPinrail(options: ClientOptions) {
  const call = createTransport(options)
  return {
    payments: createPayments(call, options.wait ?? pause),
    refunds: createRefunds(call),
    disputes: createDisputes(call),
    paymentLinks: createPaymentLinks(call),
    providers: { list: () => call('listProviders') },
    quotes: { read: (query: Query<'readQuote'>) => call('readQuote', { query }) },
    routes: { preview: (body: Body<'previewRoutes'>) => call('previewRoutes', { body }) },
    events: createEvents(call, options.wait ?? pause),
    webhookEndpoints: createWebhookEndpoints(call),
    apiKeys: createApiKeys(call),
    requests: createRequests(call),
    account: {
      read: () => call('readAccount'),
      apply: (body: Body<'applyForAccount'>) => call('applyForAccount', { body }),
    },
    settings: {
      readWallet: () => call('readWallet'),
      setWallet: (body: Body<'setWallet'>) => call('setWallet', { body }),
      stopWalletChange: () => call('stopWalletChange'),
      readBrand: () => call('readBrand'),
      setBrand: (body: Body<'setBrand'>) => call('setBrand', { body }),
      readDeductions: () => call('readDeductions'),
      setDeductions: (body: Body<'setDeductions'>) => call('setDeductions', { body }),
      readEmbedding: () => call('readEmbedding'),
      setEmbedding: (body: Body<'setEmbedding'>) => call('setEmbedding', { body }),
    },
    notificationChannels: createChannels(call),
    team: createTeam(call),
    auditLog: createAuditLog(call),
    exports: createExports(call),
    test: {
      simulate: (id: string, body: Body<'simulatePayment'>) => call('simulatePayment', { path: { id }, body }),
      skipTime: (id: string, body: Body<'skipTime'>) => call('skipTime', { path: { id }, body }),
    },
    webhooks: { verify: verifyWebhook, handler: createWebhookHandler, sign: signWebhook },
  }
}

function createPayments(call: Transport, pauseFor: (milliseconds: number) => Promise<void>) {
  const read = (id: string) => call('readPayment', { path: { id } })
  const list = (query: Query<'listPayments'> = {}) => call('listPayments', { query })
  return {
    create: (body: Body<'createPayment'>, once: Once = {}) => call('createPayment', { body, ...once }),
    read,
    waitFor: createWait(read, pauseFor),
    list,
    /** Every payment, newest first, over all pages. */
    all: (query: Query<'listPayments'> = {}) => pages(list, query),
    update: (id: string, body: Body<'updatePayment'>) => call('updatePayment', { path: { id }, body }),
    cancel: (id: string) => call('cancelPayment', { path: { id } }),
    timeline: (id: string) => call('readPaymentTimeline', { path: { id } }),
    /** The receipt of a settled payment: the proof that the USDC arrived. */
    receipt: (id: string) => call('readPaymentReceipt', { path: { id } }),
  }
}

function createRefunds(call: Transport) {
  const list = (query: Query<'listRefunds'> = {}) => call('listRefunds', { query })
  return {
    create: (payment: string, body: Body<'createRefund'> = {}, once: Once = {}) =>
      call('createRefund', { path: { id: payment }, body, ...once }),
    read: (id: string) => call('readRefund', { path: { id } }),
    list,
    /** Every refund, newest first, over all pages. */
    all: (query: Query<'listRefunds'> = {}) => pages(list, query),
    listOf: (payment: string, query: Query<'listPaymentRefunds'> = {}) =>
      call('listPaymentRefunds', { path: { id: payment }, query }),
    fund: (id: string, body: Body<'fundRefund'>) => call('fundRefund', { path: { id }, body }),
    cancel: (id: string) => call('cancelRefund', { path: { id } }),
  }
}

function createDisputes(call: Transport) {
  const list = (query: Query<'listDisputes'> = {}) => call('listDisputes', { query })
  return {
    read: (id: string) => call('readDispute', { path: { id } }),
    list,
    /** Every dispute, newest first, over all pages. */
    all: (query: Query<'listDisputes'> = {}) => pages(list, query),
    submitEvidence: (id: string, body: Body<'submitDisputeEvidence'>, once: Once = {}) =>
      call('submitDisputeEvidence', { path: { id }, body, ...once }),
    accept: (id: string) => call('acceptDispute', { path: { id } }),
  }
}

function createPaymentLinks(call: Transport) {
  const list = (query: Query<'listPaymentLinks'> = {}) => call('listPaymentLinks', { query })
  return {
    create: (body: Body<'createPaymentLink'>, once: Once = {}) => call('createPaymentLink', { body, ...once }),
    read: (id: string) => call('readPaymentLink', { path: { id } }),
    list,
    /** Every link, newest first, over all pages. */
    all: (query: Query<'listPaymentLinks'> = {}) => pages(list, query),
    update: (id: string, body: Body<'updatePaymentLink'>) => call('updatePaymentLink', { path: { id }, body }),
    deactivate: (id: string) => call('deactivatePaymentLink', { path: { id } }),
  }
}

/** Seconds in which the API waits for an event: less than the timeout of a request. */
const WAIT_SECONDS = 15
/** Milliseconds between two requests if the one before has found nothing. */
const EMPTY_MS = 250

function createEvents(call: Transport, pauseFor: (milliseconds: number) => Promise<void>) {
  const list = (query: Query<'listEvents'> = {}) => call('listEvents', { query })
  return {
    list,
    read: (id: string) => call('readEvent', { path: { id } }),
    /** Every event after this sequence number, oldest first. Use it to read events that you missed. */
    async *pull(afterSequence: number): AsyncGenerator<Answer<'readEvent'>, void> {
      for (let after = afterSequence, more = true; more; ) {
        const page = await list({ after_sequence: after, limit: 100 })
        yield* page.data
        after = page.data.at(-1)?.sequence ?? after
        more = page.has_more
      }
    },
    /** Every event after this sequence number, oldest first, and then each new one when it happens. Never ends. */
    async *follow(afterSequence: number): AsyncGenerator<Answer<'readEvent'>, never> {
      for (let after = afterSequence; ; ) {
        const { data } = await list({ after_sequence: after, wait: WAIT_SECONDS, limit: 100 })
        yield* data
        after = data.at(-1)?.sequence ?? after
        if (data.length === 0) await pauseFor(EMPTY_MS)
      }
    },
  }
}

function createWebhookEndpoints(call: Transport) {
  const deliveries = (id: string, query: Query<'listDeliveries'> = {}) =>
    call('listDeliveries', { path: { id }, query })
  return {
    create: (body: Body<'createWebhookEndpoint'>, once: Once = {}) => call('createWebhookEndpoint', { body, ...once }),
    list: () => call('listWebhookEndpoints'),
    read: (id: string) => call('readWebhookEndpoint', { path: { id } }),
    update: (id: string, body: Body<'updateWebhookEndpoint'>) => call('updateWebhookEndpoint', { path: { id }, body }),
    delete: (id: string) => call('deleteWebhookEndpoint', { path: { id } }),
    rotateSecret: (id: string, body: Body<'rotateWebhookSecret'> = {}, once: Once = {}) =>
      call('rotateWebhookSecret', { path: { id }, body, ...once }),
    test: (id: string) => call('testWebhookEndpoint', { path: { id } }),
    deliveries,
    redeliver: (id: string, event: string) => call('redeliverEvent', { path: { id, event } }),
    diagnose: (id: string, event: string) => call('diagnoseDelivery', { path: { id, event } }),
    redeliverFailed: (id: string, body: Body<'redeliverFailed'>) => call('redeliverFailed', { path: { id }, body }),
  }
}

function createApiKeys(call: Transport) {
  return {
    create: (body: Body<'createApiKey'>, once: Once = {}) => call('createApiKey', { body, ...once }),
    list: (query: Query<'listApiKeys'> = {}) => call('listApiKeys', { query }),
    rotate: (id: string, body: Body<'rotateApiKey'> = {}, once: Once = {}) =>
      call('rotateApiKey', { path: { id }, body, ...once }),
    revoke: (id: string) => call('revokeApiKey', { path: { id } }),
  }
}

function createRequests(call: Transport) {
  return {
    list: (query: Query<'listRequests'> = {}) => call('listRequests', { query }),
    read: (id: string) => call('readRequest', { path: { id } }),
  }
}

function createChannels(call: Transport) {
  return {
    create: (body: Body<'createNotificationChannel'>, once: Once = {}) =>
      call('createNotificationChannel', { body, ...once }),
    list: () => call('listNotificationChannels'),
    read: (id: string) => call('readNotificationChannel', { path: { id } }),
    update: (id: string, body: Body<'updateNotificationChannel'>) =>
      call('updateNotificationChannel', { path: { id }, body }),
    delete: (id: string) => call('deleteNotificationChannel', { path: { id } }),
    test: (id: string) => call('testNotificationChannel', { path: { id } }),
    resume: (id: string) => call('resumeNotificationChannel', { path: { id } }),
    messages: (id: string) => call('listChannelMessages', { path: { id } }),
  }
}

function createTeam(call: Transport) {
  return {
    members: () => call('listMembers'),
    setRole: (id: string, role: Body<'updateMember'>['role']) => call('updateMember', { path: { id }, body: { role } }),
    remove: (id: string) => call('removeMember', { path: { id } }),
    invitations: () => call('listInvitations'),
    invite: (body: Body<'inviteMember'>, once: Once = {}) => call('inviteMember', { body, ...once }),
    withdraw: (email: string) => call('withdrawInvitation', { path: { email } }),
  }
}

function createAuditLog(call: Transport) {
  const list = (query: Query<'listAuditLog'> = {}) => call('listAuditLog', { query })
  return {
    list,
    /** Every entry, newest first, over all pages. */
    all: (query: Query<'listAuditLog'> = {}) => pages(list, query),
  }
}

type Filters = Omit<Query<'exportPayments'>, 'format'>

/** Reads a whole file into memory. For a large number of payments, use `payments.all`. */
function createExports(call: Transport) {
  const csv = { format: 'csv' } as const
  return {
    payments: (query: Filters = {}) => call('exportPayments', { query }),
    paymentsCsv: (query: Filters = {}): Promise<string> => call.text('exportPayments', { query: { ...query, ...csv } }),
    /** `period`: a month such as 2026-11, or a year. */
    statement: (period: string) => call('exportStatement', { query: { period } }),
    statementCsv: (period: string): Promise<string> => call.text('exportStatement', { query: { period, ...csv } }),
  }
}

type Page<T> = { readonly data: readonly T[]; readonly has_more: boolean }

async function* pages<T extends { readonly id: string }, Q extends object>(
  list: (query: Q & { starting_after?: string }) => Promise<Page<T>>,
  query: Q,
): AsyncGenerator<T, void> {
  let page = await list(query)
  yield* page.data
  for (let last = page.data.at(-1); page.has_more && last !== undefined; last = page.data.at(-1)) {
    page = await list({ ...query, starting_after: last.id })
    yield* page.data
  }
}
