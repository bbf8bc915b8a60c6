import { dirname, join } from 'node:path'
import express, { type ErrorRequestHandler, type Express, type Request, type Response, Router } from 'express'
import { Webhook } from 'standardwebhooks'
import { z } from 'zod'
import type { Logger } from '../../runtime/log.ts'
import { STYLESHEET, STYLESHEET_PATH } from '../html.ts'
import { openJournal } from '../journal.ts'
import type { Chat } from './chat.ts'
import { deliveriesPage, deliverySchema, type InboxDelivery } from './deliveries-page.ts'
import { createLive, LIVE_SCRIPT, LIVE_SCRIPT_PATH, type Live, showLive } from './live.ts'
import type { Mailbox } from './mailbox.ts'

const behaviorSchema = z.strictObject({
  /** `hang` never responds; `close` ends the connection; a number is the status of the response. */
  answer: z.union([z.int().min(200).max(599), z.enum(['hang', 'close'])]),
  /** Number of deliveries. Default: until it is changed. */
  times: z.int().min(1).max(1_000_000).optional(),
  retryAfterSeconds: z.int().min(0).max(86_400).optional(),
})
type Behavior = z.infer<typeof behaviorSchema>

const secret = z.string().startsWith('whsec_')
const secretsSchema = z.strictObject({ secrets: z.array(secret).min(1).max(8) })
const handedSchema = z.strictObject({ secret })

/** Maximum number of secrets from `/secrets`; a new one replaces the oldest. */
const MAX_HANDED = 200

const MAX_BODY = '256kb'

export type InboxOptions = {
  /** `whsec_…`; several during a rotation. */
  readonly secrets: readonly string[]
  readonly dataFile: string
  readonly mailbox?: Mailbox
  readonly chat?: Chat
  readonly log: Logger
}

export type Inbox = {
  readonly app: Express
  close: () => Promise<void>
}

/**
 * A merchant's receiver of webhooks. It verifies with the library that merchants use, and stores deliveries on disk.
 */
export async function createInbox(options: InboxOptions): Promise<Inbox> {
  const deliveries: InboxDelivery[] = []
  const journal = await openJournal(options.dataFile, deliverySchema, (delivery) => {
    deliveries.push(delivery)
  })
  const live = createLive()
  const keys = await openSecrets(options)
  let behavior: Behavior | null = null

  const nextAnswer = (): Behavior | null => {
    const current = behavior
    if (current?.times === 1) behavior = null
    else if (current?.times !== undefined) behavior = { ...current, times: current.times - 1 }
    return current
  }

  async function receive(request: Request, response: Response): Promise<void> {
    const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : ''
    const headers = textHeaders(request)
    const problem = verify(keys.all(), { headers, body })
    const special = nextAnswer()
    const status = chooseStatus(special, problem)
    const delivery = { received_at: new Date().toISOString(), path: request.path, headers, body, status }
    await journal.append({ ...delivery, verified: problem === null, problem })
    live.notify()
    options.log.debug({ id: headers['webhook-id'], status, problem }, 'webhook received')
    if (special?.answer === 'hang') return
    if (special?.answer === 'close') return void response.socket?.destroy()
    if (special?.retryAfterSeconds !== undefined) response.set('retry-after', special.retryAfterSeconds.toString())
    response.status(status).json({ verified: problem === null })
  }

  const app = express()
  app.disable('x-powered-by')
  app.use(express.raw({ type: () => true, limit: MAX_BODY }))
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' })
  })
  app.use(createPages({ deliveries, live, settled: () => journal.settled() }))
  if (options.mailbox !== undefined) app.use(options.mailbox.router)
  if (options.chat !== undefined) app.use(options.chat.router)
  app.post('/behavior', (request, response) => {
    const wanted = behaviorSchema.nullable().safeParse(readJson(request))
    if (!wanted.success) return void response.status(400).json({ error: z.prettifyError(wanted.error) })
    behavior = wanted.data
    response.json({ behavior })
  })
  app.use(keys.router)
  app.post('/{*path}', receive)
  app.use((_request, response) => {
    response.status(404).json({ error: 'there is nothing here' })
  })
  app.use(answerError)
  const close = async (): Promise<void> => {
    await options.mailbox?.close()
    await options.chat?.close()
    await Promise.all([journal.close(), keys.close()])
  }
  return { app, close }
}

/**
 * Opens the secrets that verify deliveries: those given at the start or sent to `/secret`, and each one sent to `/secrets`.
 */
async function openSecrets({ secrets: first, dataFile }: Pick<InboxOptions, 'secrets' | 'dataFile'>) {
  let secrets = first
  let handed: readonly string[] = []
  const journal = await openJournal(join(dirname(dataFile), 'secrets.jsonl'), handedSchema, (entry) => {
    handed = [entry.secret, ...handed].slice(0, MAX_HANDED)
  })
  const router = Router()
  router.post('/secret', (request, response) => {
    const wanted = secretsSchema.safeParse(readJson(request))
    if (!isLoopback(request)) return void response.status(403).json({ error: 'only from this machine' })
    if (!wanted.success) return void response.status(400).json({ error: 'send {"secrets": ["whsec_…"]}' })
    secrets = wanted.data.secrets
    response.status(204).end()
  })
  router.post('/secrets', async (request, response) => {
    const wanted = handedSchema.safeParse(readJson(request))
    if (!isLoopback(request)) return void response.status(403).json({ error: 'only from this machine' })
    if (!wanted.success) return void response.status(400).json({ error: 'send {"secret": "whsec_…"}' })
    await journal.append(wanted.data)
    response.status(204).end()
  })
  return { router, all: () => [...secrets, ...handed], close: () => journal.close() }
}

/** `/` for people, live, and `/deliveries` for programs. */
function createPages({
  deliveries,
  live,
  settled,
}: {
  deliveries: readonly InboxDelivery[]
  live: Live
  settled: () => Promise<void>
}): Router {
  const router = Router()
  router.get(STYLESHEET_PATH, (_request, response) => {
    response.type('css').send(STYLESHEET)
  })
  const render = (): string => deliveriesPage(deliveries)
  showLive(router, live, { list: '/deliveries', page: '/', all: deliveries, settled, render })
  router.get(LIVE_SCRIPT_PATH, (_request, response) => {
    response.type('js').send(LIVE_SCRIPT)
  })
  return router
}

// oxlint-disable-next-line max-params -- Express recognizes an error handler by its four parameters.
const answerError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) return next(error)
  const status = error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : 500
  response.status(status).json({ error: 'the request could not be kept' })
}

function chooseStatus(special: Behavior | null, problem: string | null): number {
  if (special === null) return problem === null ? 200 : 401
  return typeof special.answer === 'number' ? special.answer : 0
}

/** Returns null if one of the secrets verifies the delivery, otherwise the reason for the failure. */
function verify(secrets: readonly string[], webhook: Pick<InboxDelivery, 'headers' | 'body'>): string | null {
  const problems = secrets.map((secret) => {
    try {
      new Webhook(secret).verify(webhook.body, webhook.headers)
      return null
    } catch (error) {
      return error instanceof Error ? error.message : 'unknown'
    }
  })
  if (problems.includes(null)) return null
  return problems[0] ?? 'no secret has been set'
}

function textHeaders(request: Request): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === 'string' ? value : value.join(', ')]],
    ),
  )
}

function readJson(request: Request): unknown {
  try {
    return JSON.parse(Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '')
  } catch {
    return undefined
  }
}

function isLoopback(request: Request): boolean {
  return ['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(request.socket.remoteAddress ?? '')
}
