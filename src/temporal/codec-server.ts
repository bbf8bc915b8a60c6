import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { Payload, PayloadCodec } from '@temporalio/common'
import express, { type ErrorRequestHandler, type NextFunction, type Request, type Response } from 'express'
import { z } from 'zod'
import { createTimeouts, SERVER_TIMEOUTS, type ServerTimeouts } from '../runtime/server-timeouts.ts'

export type CodecServerOptions = {
  readonly codec: PayloadCodec
  /** Grants access to every payload: the CLI sends it as a bearer token, a person signs in with it. */
  readonly token: string
  /** Origins of Temporal's UI: only their pages can send requests. */
  readonly allowedOrigins: readonly string[]
  /** True if the cookie is only for https. */
  readonly secure: boolean
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly patience?: ServerTimeouts
}

/** A working day. */
const SESSION_SECONDS = 12 * 3600
const COOKIE = 'pinrail_codec'
/** A page of the UI's history, with its largest payloads. */
const MAX_BODY = '4mb'

const base64 = z.base64().transform((text) => Buffer.from(text, 'base64'))
const body = z.object({
  payloads: z
    .array(z.object({ metadata: z.record(z.string(), base64).default({}), data: base64.optional() }))
    .max(10_000),
})

/**
 * The codec server of Temporal's UI and CLI (https://docs.temporal.io/production-deployment/data-encryption). The CLI
 * authenticates by `--codec-auth`. The UI sends a cookie, which `GET /` gives to whoever enters the token; it is a
 * same-site cookie, so UI and codec server must be on one site.
 */
export function createCodecServer(options: CodecServerOptions): Server {
  const app = express()
  app.disable('x-powered-by')
  // Behind a proxy all clients have one address, so a lockout would affect others. A token has at least 32 random
  // characters.
  const isToken = (given: string): boolean => same(given, options.token)
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }))
  app.get('/', (_request, response) => page(response, 200, 'Enter the token of the codec server.'))
  app.post('/sign-in', express.urlencoded({ extended: false, limit: '4kb' }), (request, response) => {
    const { token } = (request.body ?? {}) as { token?: unknown }
    if (!isToken(typeof token === 'string' ? token : '')) return page(response, 401, 'That is not the token.')
    response.cookie(COOKIE, newSession(options), {
      httpOnly: true,
      sameSite: 'strict',
      secure: options.secure,
      maxAge: SESSION_SECONDS * 1000,
    })
    return page(response, 200, 'Signed in. Temporal’s UI shows payloads for the next 12 hours.')
  })
  app.use(['/encode', '/decode'], cors(options), authenticate(options, isToken), express.json({ limit: MAX_BODY }))
  app.post(
    '/encode',
    answer((payloads) => options.codec.encode(payloads)),
  )
  app.post(
    '/decode',
    answer((payloads) => options.codec.decode(payloads)),
  )
  app.use((_request: Request, response: Response) => void response.status(404).json({ message: 'not found' }))
  app.use(failed)
  return createServer(createTimeouts(options.patience ?? SERVER_TIMEOUTS), app)
}

// oxlint-disable-next-line max-params -- Express knows a handler of errors by its four parameters.
const failed: ErrorRequestHandler = (error: { status?: number }, _request, response, _next) => {
  // Errors of the body parser have their own status.
  const status = error.status !== undefined && error.status < 500 ? error.status : 500
  response.status(status).json({ message: status === 500 ? 'failed' : 'the body must be payloads in JSON' })
}

function cors({ allowedOrigins }: CodecServerOptions) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { origin } = request.headers
    response.vary('origin')
    if (origin !== undefined && !allowedOrigins.includes(origin)) {
      response.status(403).json({ message: `CODEC_ALLOWED_ORIGINS must name ${origin}` })
      return
    }
    if (origin !== undefined)
      response.set({
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'authorization, content-type, x-namespace',
        'access-control-max-age': '600',
      })
    if (request.method === 'OPTIONS') response.status(204).end()
    else next()
  }
}

function authenticate(options: CodecServerOptions, isToken: (given: string) => boolean) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const bearer = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1]
    const cookie = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]+)`).exec(request.headers.cookie ?? '')?.[1]
    // A cookie counts only for the UI's pages, which send their origin.
    const signedIn = cookie !== undefined && request.headers.origin !== undefined && isSession(cookie, options)
    if (signedIn || (bearer !== undefined && isToken(bearer))) return next()
    response.set('www-authenticate', 'Bearer').status(401)
    response.json({ message: 'sign in at this server’s page, or send the token: --codec-auth "Bearer …"' })
  }
}

/** Compares digests, so that the time reveals neither content nor length. */
function same(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHmac('sha256', 'pinrail codec').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

const sign = (expires: string, token: string): string =>
  createHmac('sha256', token).update(`session until ${expires}`).digest('base64url')

function newSession({ token, clock }: CodecServerOptions): string {
  const expires = String(Math.floor(clock() / 1000) + SESSION_SECONDS)
  return `${expires}.${sign(expires, token)}`
}

function isSession(cookie: string, { token, clock }: CodecServerOptions): boolean {
  const [expires = '', signature = ''] = cookie.split('.')
  return same(signature, sign(expires, token)) && Number(expires) * 1000 > clock()
}

function answer(work: (payloads: Payload[]) => Promise<Payload[]>) {
  return async (request: Request, response: Response): Promise<void> => {
    const parsed = body.safeParse(request.body)
    if (!parsed.success) {
      response.status(400).json({ message: 'the body must be payloads in JSON' })
      return
    }
    try {
      const payloads = parsed.data.payloads.map(({ metadata, data }) => ({
        metadata,
        ...(data !== undefined && { data }),
      }))
      response.json({ payloads: (await work(payloads)).map(toJson) })
    } catch (error) {
      response.status(400).json({ message: error instanceof Error ? error.message : String(error) })
    }
  }
}

/** Renders protobuf's JSON of a payload: bytes in base64. */
function toJson({ metadata, data }: Payload) {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)])
  return { metadata: Object.fromEntries(entries) as Record<string, string>, data: text(data ?? new Uint8Array()) }
}

function page(response: Response, status: number, message: string): void {
  response
    .status(status)
    .set('content-security-policy', "default-src 'none'; form-action 'self'; frame-ancestors 'none'")
    .set('cache-control', 'no-store')
    .type('html')
    .send(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Codec server</title>
<h1>Codec server</h1><p>${message}</p>
<form method="post" action="/sign-in"><label>Token <input type="password" name="token" required></label>
<button>Sign in</button></form></html>`)
}
