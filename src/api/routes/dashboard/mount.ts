import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import express, { type Request, type RequestHandler, type Response, Router } from 'express'
import { writeAudit, writeAuditHourly } from '../../../db/accounts/audit.ts'
import { listMemberships, type Membership } from '../../../db/accounts/people.ts'
import { sessionIn } from '../../../db/db.ts'
import { hasAbility } from '../../../domain/account/roles.ts'
import { isConfirmed } from '../../../domain/account/session.ts'
import type { Platform } from '../../../domain/platform.ts'
import { isSameSecret } from '../../../runtime/constant-time.ts'
import { FRAMED_HEADERS, FRAMING_HEADERS, PAGE_HEADERS } from '../../../web/page-headers.ts'
import {
  CONFIRMED,
  type ConfirmableRequest,
  type ConfirmationDeps,
  findConfirmableRequest,
  storeConfirmableRequest,
} from '../../accounts/confirmations.ts'
import { findSignedIn, type SessionDeps, type SignedIn } from '../../accounts/sessions.ts'
import { formToken } from '../../accounts/tokens.ts'
import { readUpload } from '../../images/upload.ts'
import type { RequestLimits } from '../../limits/request-limits.ts'
import type { InTurn, Turns } from '../../limits/turns.ts'
import { groupByPath, onlyMethods, STALLED_MS, setHeaders } from '../../route.ts'
import { fromOurPage } from '../from-our-page.ts'
import { SiteProblem } from '../site-problem.ts'
import type { Exported, Fresh, Page, PageAnswer, PageCall } from './page.ts'

export type MountDeps = SessionDeps &
  ConfirmationDeps & {
    readonly publicUrl: string
    /** Null if the URL is not known. */
    readonly otherModeUrl: string | null
    readonly platform: Platform
    readonly limits: Pick<RequestLimits, 'countPerson'>
    readonly turns: Turns
  }

export const CSRF_FIELD = '_form'

const FORM_LIMIT = '16kb'
const readForm = express.urlencoded({ extended: false, limit: FORM_LIMIT, parameterLimit: 60 })

/** Mounts the pages: same origin, session, form token, role, fresh confirmation, form, handler, in this order. */
export function mountPages(pages: readonly Page[], deps: MountDeps): Router {
  const router = Router()
  for (const [path, methods] of groupByPath(pages)) {
    const every = setHeaders(PAGE_HEADERS)
    for (const page of methods) {
      const guards = page.method === 'post' ? [fromOurPage(deps.publicUrl), ...formReaders(page, deps)] : []
      router[page.method](path, every, ...guards, (request, response) => run(deps, page, { request, response }))
    }
    router.all(path, every, onlyMethods(methods.map(({ method }) => method.toUpperCase())))
  }
  return router
}

/** A form with files is read into memory as a whole, so only of people who are signed in. */
function formReaders({ upload }: Page, deps: MountDeps): RequestHandler[] {
  if (upload === undefined) return [readForm]
  const requireSession: RequestHandler = async (request, response, next) => {
    if ((await findSignedIn(deps, request)) === null) response.redirect(303, '/sign-in?to=/dashboard')
    else next()
  }
  return [requireSession, readUpload(upload), readForm]
}

async function run(deps: MountDeps, page: Page, { request, response }: { request: Request; response: Response }) {
  const seen = await enter(deps, page, request)
  if ('to' in seen) return response.redirect(303, seen.to)
  const form = parseForm(page, request) as never
  if (page.makes !== undefined) deps.limits.countPerson(seen.signedIn.session.personId, page.makes)
  const answer = async (call: PageCall): Promise<void> => {
    const done = await (page.lists === 'at once'
      ? call.inTurn((db) => page.handle({ ...call, form, db }))
      : page.handle({ ...call, form }))
    if ('file' in done && done.exported !== null) await logExport(deps, call, done.exported)
    await send(response, done)
  }
  // A GET has its turn from beginning to end. A POST takes one only for each list that it reads.
  const listTurn = openTurn(deps.turns.lists, seen)
  if (page.method === 'post') return answer(createCall(deps, seen, listTurn))
  const turn = page.makes === 'file' ? openTurn(deps.turns.files, seen) : listTurn
  return turn(() => answer(createCall(deps, seen, (work) => work())))
}

/** Returns the page that must come first, if there is one: to sign in, to make an account, to confirm. */
async function enter(deps: MountDeps, page: Page, request: Request): Promise<Seen | { readonly to: string }> {
  const signedIn = await findSignedIn(deps, request)
  const back = page.method === 'get' ? request.originalUrl : '/dashboard'
  if (signedIn === null) return { to: `/sign-in?to=${encodeURIComponent(back)}` }
  const memberships = await listMemberships(deps.db, signedIn.session.personId)
  const account = memberships.find(({ merchantId }) => merchantId === signedIn.session.merchantId) ?? memberships[0]
  if (!(await takeKept(deps, { page, request, signedIn }))) return { to: '/dashboard' }
  const csrf = formToken(signedIn.token, account?.merchantId ?? null)
  if (page.method === 'post' && !isSameSecret(String(request.body?.[CSRF_FIELD] ?? ''), csrf))
    throw new SiteProblem('forbidden_form')
  if (page.needs !== 'person') {
    if (account === undefined) return { to: '/dashboard/welcome' }
    if (!hasAbility(account.role, page.needs)) {
      await logRefusal(deps, { page, request, signedIn, account })
      throw new SiteProblem('forbidden_role')
    }
  }
  if (page.fresh !== undefined && !isConfirmed(signedIn.session, deps.clock())) {
    const id = await storeConfirmableRequest(deps, signedIn.session.id, toAsked(page.fresh, page, request))
    return { to: `/dashboard/confirm?asked=${id}` }
  }
  return { page, request, signedIn, memberships, account, csrf }
}

const logExport = (
  { db }: MountDeps,
  { tenant: { merchantId }, signedIn: { session }, ip }: PageCall,
  { operation, data }: Exported,
): Promise<void> => writeAudit(db, { merchantId, actor: session.personId, action: operation.name, data, ip })

type Turn = <T>(work: () => Promise<T>) => Promise<T>

/** The person's turn first, so that people of an account do not wait for each other's first turn. */
function openTurn(turns: InTurn, { signedIn, account }: Pick<Seen, 'signedIn' | 'account'>): Turn {
  return (work) =>
    turns(signedIn.session.personId, () => (account === undefined ? work() : turns(account.merchantId, work)))
}

/** The stored form replaces the posted one. Returns false if no form is stored for this path. */
async function takeKept(
  deps: MountDeps,
  { page, request, signedIn }: Pick<Seen, 'page' | 'request' | 'signedIn'>,
): Promise<boolean> {
  const id = request.query[CONFIRMED]
  if (page.method === 'get' || id === undefined) return true
  const asked = await findConfirmableRequest(deps, deps.db, { id, sessionId: signedIn.session.id })
  if (asked?.method !== 'post' || asked.path !== request.path) return false
  request.body = asked.body
  return true
}

function toAsked(
  { what, back }: Fresh,
  { method }: Page,
  { params, body, path, originalUrl }: Request,
): ConfirmableRequest {
  const fields = readTexts({ ...body, ...params })
  return {
    method,
    path: method === 'get' ? originalUrl : path,
    what: typeof what === 'string' ? what : what(fields),
    back: typeof back === 'string' ? back : back(params as Record<string, string>),
    body: body ?? {},
  }
}

/** Logs only a POST, at most once an hour. */
async function logRefusal(
  { db }: MountDeps,
  { page, request, signedIn, account }: Pick<Seen, 'page' | 'request' | 'signedIn'> & { readonly account: Membership },
): Promise<void> {
  if (page.method !== 'post') return
  const data = { path: page.path, role: account.role }
  const { personId: actor } = signedIn.session
  const note = { merchantId: account.merchantId, actor, action: 'person.refused', data, ip: request.ip ?? '' }
  await db.transaction((tx) => writeAuditHourly(tx, note))
}

type Seen = {
  readonly page: Page
  readonly request: Request
  readonly signedIn: SignedIn
  readonly memberships: readonly Membership[]
  readonly account: Membership | undefined
  readonly csrf: string
}

function createCall(deps: MountDeps, context: Seen, turn: Turn): PageCall {
  const { page, request, signedIn, memberships, account, csrf } = context
  const tenant = { merchantId: account?.merchantId ?? '', livemode: deps.db.livemode }
  return {
    request,
    params: request.params as Record<string, string>,
    query: readTexts(request.query),
    form: undefined,
    signedIn,
    person: { id: signedIn.session.personId, email: signedIn.session.email },
    csrf,
    ip: request.ip ?? '',
    frame: {
      path: request.path,
      account: account?.name ?? null,
      role: account?.role ?? null,
      accounts: memberships,
      email: signedIn.session.email,
      csrf,
      testMode: !deps.db.livemode,
      otherModeUrl: deps.otherModeUrl,
      platform: deps.platform,
    },
    tenant,
    role: account?.role ?? 'viewer',
    db: page.lists !== undefined ? deps.db.lists(tenant) : deps.db.as(tenant),
    inTurn: (work) => turn(() => deps.db.lists(tenant).transaction((tx) => work(sessionIn(tx)))),
  }
}

/** Values with NUL are omitted, because Postgres rejects them. */
function readTexts(query: Request['query']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => {
      const text: unknown = Array.isArray(value) ? value.map(String).join(',') : value
      return typeof text === 'string' && !text.includes('\0') ? [[name, text]] : []
    }),
  )
}

function parseForm(page: Page, request: Request): unknown {
  // Postgres rejects a text with NUL.
  if (
    [request.body, request.params].some((values) =>
      Object.values(values ?? {}).some((text) => !Buffer.isBuffer(text) && String(text).includes('\0')),
    )
  )
    throw new SiteProblem('bad_request')
  if (page.form === undefined) return undefined
  const parsed = page.form.safeParse(request.body)
  if (!parsed.success) throw new SiteProblem('bad_request')
  return parsed.data
}

async function send(response: Response, answer: PageAnswer): Promise<void> {
  if ('html' in answer) {
    if (answer.frame !== undefined) response.set(answer.frame === 'holds' ? FRAMING_HEADERS : FRAMED_HEADERS)
    response
      .status(answer.status ?? 200)
      .type('html')
      .send(answer.html)
    return
  }
  if ('to' in answer) {
    for (const cookie of answer.cookies ?? []) response.append('set-cookie', cookie)
    response.redirect(answer.status ?? 303, answer.to)
    return
  }
  const { name, type, chunks } = answer.file
  response.type(type).set('content-disposition', `attachment; filename="${name}"`)
  response.setTimeout(STALLED_MS, () => response.destroy())
  await pipeline(Readable.from(chunks), response)
}
