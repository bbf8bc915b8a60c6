import { once } from 'node:events'
import type http from 'node:http'
import { SMTPServer } from 'smtp-server'
import { type Receiver, startReceiver } from '../webhooks/listeners.ts'

/** Chat services on this machine, with the responses and the limits of their documentation. */

export type Taken = { readonly at: number; readonly text: string; readonly body: Readonly<Record<string, unknown>> }

/** `lost`: accepted, and the connection closes without a response. A number: this status, and not accepted. */
export type Mood = (request: number) => 'as documented' | 'lost' | number

export type Service = {
  readonly url: string
  readonly target: string
  /** All messages that people see there. */
  readonly taken: Taken[]
  /** The number of requests, and of those that were refused for coming too fast. */
  readonly seen: { requests: number; limited: number }
  mood: Mood
  close(): Promise<void>
}

type Answer = { readonly status: number; readonly headers?: Record<string, string>; readonly body: string }
type Rules = {
  readonly path: RegExp
  readonly readText: (body: Record<string, unknown>) => string
  /** Null: accepted now. Otherwise seconds to wait. */
  readonly limit: (taken: readonly Taken[], now: number) => number | null
  readonly limited: (seconds: number) => Answer
  readonly accepted: (taken: readonly Taken[], now: number) => Answer
  readonly refused: (status: number) => Answer
}

const CLOCK_MS = 1000

async function startService(rules: Rules, clock: () => number): Promise<Service> {
  const service = { taken: [] as Taken[], seen: { requests: 0, limited: 0 }, mood: (() => 'as documented') as Mood }
  const receiver: Receiver = await startReceiver(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>
    service.seen.requests += 1
    const mood = service.mood(service.seen.requests)
    if (!rules.path.test(request.url ?? '')) return send(response, { status: 404, body: 'no such path' })
    if (typeof mood === 'number') return send(response, rules.refused(mood))
    const now = clock()
    const wait = rules.limit(service.taken, now)
    if (wait !== null) {
      service.seen.limited += 1
      return send(response, rules.limited(wait))
    }
    service.taken.push({ at: now, text: rules.readText(body), body })
    if (mood === 'lost') return void request.socket.destroy()
    return send(response, rules.accepted(service.taken, now))
  })
  return Object.assign(service, {
    url: `http://${receiver.target}`,
    target: receiver.target,
    close: () => receiver.close(),
  })
}

function send(response: http.ServerResponse, { status, headers = {}, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

const within = (taken: readonly Taken[], now: number, ms: number): Taken[] => taken.filter(({ at }) => at > now - ms)

/** https://core.telegram.org/bots/faq#my-bot-is-hitting-limits, and ResponseParameters of the Bot API. */
export function startTelegram(token: string, clock: () => number): Promise<Service> {
  const telegram = (status: number, description: string, parameters?: object): Answer => ({
    status,
    body: JSON.stringify({ ok: false, error_code: status, description, ...(parameters && { parameters }) }),
  })
  return startService(
    {
      path: new RegExp(`^/bot${token}/sendMessage$`),
      readText: (body) => String(body['text']),
      limit: (taken, now) => {
        if (within(taken, now, CLOCK_MS).length >= 1) return 1
        return within(taken, now, 60 * CLOCK_MS).length >= 20 ? 35 : null
      },
      limited: (seconds) => telegram(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds }),
      accepted: (taken) => ({ status: 200, body: JSON.stringify({ ok: true, result: { message_id: taken.length } }) }),
      refused: (status) => telegram(status, status === 403 ? 'Forbidden: bot was blocked by the user' : 'Bad Request'),
    },
    clock,
  )
}

/** https://discord.com/developers/docs/topics/rate-limits */
export function startDiscord(clock: () => number): Promise<Service> {
  return startService(
    {
      path: /^\/api\/webhooks\/\d+\/[\w-]+\?wait=true$/,
      readText: (body) => String(body['content']),
      limit: (taken, now) => (within(taken, now, 2 * CLOCK_MS).length >= 5 ? 1.337 : null),
      limited: (seconds) => ({
        status: 429,
        headers: { 'retry-after': '2', 'x-ratelimit-remaining': '0', 'x-ratelimit-scope': 'user' },
        body: JSON.stringify({ message: 'You are being rate limited.', retry_after: seconds, global: false }),
      }),
      accepted: (taken, now) => ({
        status: 200,
        headers: {
          'x-ratelimit-limit': '5',
          'x-ratelimit-remaining': String(5 - within(taken, now, 2 * CLOCK_MS).length),
          'x-ratelimit-reset-after': '2.000',
        },
        body: JSON.stringify({ id: String(taken.length) }),
      }),
      refused: (status) => ({ status, body: JSON.stringify({ message: 'Unknown Webhook', code: 10_015 }) }),
    },
    clock,
  )
}

/** https://api.slack.com/apis/rate-limits#webhooks, and the errors of incoming webhooks. */
export function startSlack(clock: () => number): Promise<Service> {
  const plain = (status: number, body: string, headers: Record<string, string> = {}): Answer => ({
    status,
    body,
    headers: { 'content-type': 'text/html', ...headers },
  })
  return startService(
    {
      path: /^\/services\/T\w+\/B\w+\/\w+$/,
      readText: (body) => {
        const [block] = body['blocks'] as { text: { text: string } }[]
        return block!.text.text
      },
      limit: (taken, now) => (within(taken, now, CLOCK_MS).length >= 1 ? 30 : null),
      limited: (seconds) => plain(429, 'rate_limited', { 'retry-after': String(seconds) }),
      accepted: () => plain(200, 'ok'),
      refused: (status) => plain(status, status === 404 ? 'no_service' : 'server_error'),
    },
    clock,
  )
}

export type MailService = {
  readonly url: string
  readonly taken: { readonly id: string; readonly text: string }[]
  /** `grey`: come back later (RFC 6647). `lost`: accepted, and the connection closes without a response. */
  mood: (mail: number) => 'takes' | 'grey' | 'refuses' | 'lost'
  close(): Promise<void>
}

export async function startMailService(): Promise<MailService> {
  const service: Pick<MailService, 'taken' | 'mood'> = { taken: [], mood: () => 'takes' }
  let mails = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: (_address, session, answer) => {
      mails += 1
      const mood = service.mood(mails)
      Object.assign(session, { mood })
      const code = { grey: 451, refuses: 550, takes: 0, lost: 0 }[mood]
      answer(code === 0 ? null : Object.assign(new Error('not now'), { responseCode: code }))
    },
    onData: (stream, session, answer) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        service.taken.push({ id: /^message-id: <(.+?)@/im.exec(text)?.[1] ?? '', text })
        if ((session as { mood?: string }).mood === 'lost') {
          for (const connection of server.connections as Set<{ id: string; _socket: { destroy(): void } }>)
            if (connection.id === session.id) connection._socket.destroy()
        } else answer()
      })
    },
  })
  server.on('error', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as { port: number }
  return Object.assign(service, {
    url: `smtp://127.0.0.1:${port}`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  })
}
