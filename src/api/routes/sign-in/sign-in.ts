import express, { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { writeFailedSignIn } from '../../../db/accounts/audit.ts'
import { findOrInsertPerson } from '../../../db/accounts/people.ts'
import { findBrowserAddress, findLink, KNOWN_BROWSER } from '../../../db/accounts/sign-in-links.ts'
import type { Queryable, Tx } from '../../../db/db.ts'
import type { SignUp } from '../../../domain/account/agreement.ts'
import { readEmail } from '../../../domain/account/email.ts'
import { KNOWN_BROWSER_SECONDS, LINK_MS } from '../../../domain/account/session.ts'
import type { Platform } from '../../../domain/platform.ts'
import { asciiDigits } from '../../../domain/typed-amount.ts'
import { PAGE_HEADERS } from '../../../web/page-headers.ts'
import {
  passkeyProblem,
  renderDeadLink,
  renderLink,
  renderSent,
  renderSignIn,
  type SentView,
  type SignInView,
} from '../../../web/sign-in/sign-in.tsx'
import { afterConfirming, findConfirmableRequest } from '../../accounts/confirmations.ts'
import type { Cookies } from '../../accounts/cookies.ts'
import { isKnownBrowser, knownBrowserToken } from '../../accounts/known-browser.ts'
import { type LinkDeps, type Proof, type SignInLink, sendLink, spendLink } from '../../accounts/links.ts'
import { arePasskeysPossible, readPasskeyAnswer, requestOptions } from '../../accounts/passkeys.ts'
import { confirm, findSignedIn, openSession, type SessionDeps } from '../../accounts/sessions.ts'
import { digestOfToken } from '../../accounts/tokens.ts'
import { getNetwork } from '../../limits/network.ts'
import type { RequestLimits } from '../../limits/request-limits.ts'
import { onlyMethods, setHeaders } from '../../route.ts'
import { fromOurPage } from '../from-our-page.ts'
import { SiteProblem } from '../site-problem.ts'
import type { LocalInbox } from '../v1/webhooks/endpoints.ts'
import { readReturnPath } from './return-path.ts'

export type SignInDeps = SessionDeps &
  LinkDeps & {
    readonly platform: Platform
    readonly newPersonId: () => string
    readonly limits: Pick<RequestLimits, 'countSignIn'>
    /** The demo merchant, who signs in with one press. Null if there is none. */
    readonly demoEmail: string | null
    readonly signUp: SignUp
    /** Receives the mails with `npm start`. Null elsewhere. */
    readonly inbox: Pick<LocalInbox, 'url'> | null
  }

const FORM_LIMIT = '32kb'
const readForm = express.urlencoded({ extended: false, limit: FORM_LIMIT, parameterLimit: 10 })

const text = z.string().max(20_000).default('')
const fields = z.object({ to: text, email: text, code: text, answer: text, confirm: text })

/** Our pages send no duplicate and no overlong field, so those are a bad request. */
function readFields(request: Request): z.output<typeof fields> {
  const parsed = fields.safeParse(request.body ?? {})
  if (!parsed.success) throw new SiteProblem('bad_request')
  return parsed.data
}

/** GET never uses anything up: mail scanners open links. */
export function createSignInRouter(deps: SignInDeps): Router {
  const router = Router()
  router.use('/sign-in', setHeaders(PAGE_HEADERS))
  const post = [fromOurPage(deps.publicUrl), readForm]
  router.get('/sign-in', (request, response) => show(deps, request, response))
  router.post('/sign-in', ...post, (request, response) => ask(deps, request, response))
  router.get('/sign-in/sent', (request, response) => {
    response.type('html').send(renderSent(deps.platform, sentTo(deps, request)))
  })
  router.post('/sign-in/code', ...post, (request, response) => byCode(deps, request, response))
  router.get('/sign-in/link/:token', (request, response) => showLink(deps, request, response))
  router.post('/sign-in/link/:token', ...post, (request, response) => byLink(deps, request, response))
  router.post('/sign-in/passkey', ...post, (request, response) => byPasskey(deps, request, response))
  router.post('/sign-in/demo', ...post, (request, response) => asDemo(deps, request, response))
  router.all(['/sign-in', '/sign-in/link/:token'], onlyMethods(['GET', 'POST']))
  router.all('/sign-in/sent', onlyMethods(['GET']))
  router.all(['/sign-in/code', '/sign-in/passkey', '/sign-in/demo'], onlyMethods(['POST']))
  return router
}

async function show(deps: SignInDeps, request: Request, response: Response): Promise<void> {
  const to = readReturnPath(request.query['to'])
  if ((await findSignedIn(deps, request)) !== null) return response.redirect(303, to)
  const problem = passkeyProblem(request.query['passkey'])
  response.type('html').send(await signInPage(deps, { to, email: '', errors: {}, problem }))
}

async function signInPage(
  deps: SignInDeps,
  {
    to,
    email,
    errors = {},
    problem = null,
  }: Pick<SignInView, 'to' | 'email'> & Partial<Pick<SignInView, 'errors' | 'problem'>>,
): Promise<string> {
  const passkeyOptions = arePasskeysPossible(deps.publicUrl) ? await requestOptions(deps, 'sign-in') : null
  const demo = demoAddress(deps) !== null
  const { platform, signUp } = deps
  return renderSignIn(platform, { to, passkeyOptions, problem, demo, signUp, email, errors })
}

async function ask(deps: SignInDeps, request: Request, response: Response): Promise<void> {
  const form = readFields(request)
  const to = readReturnPath(form.to)
  const email = readEmail(form.email)
  if (email === null) {
    const errors = { email: 'Enter the whole address, such as you@shop.example.' }
    response.status(400).type('html')
    response.send(await signInPage(deps, { to, email: form.email.slice(0, 254), errors }))
    return
  }
  countTry(deps, request)
  const isKnown = deps.cookies.read(request, 'known') === knownBrowserToken(deps.pepper, email)
  const askedFrom = isKnown ? KNOWN_BROWSER : getNetwork(request.ip ?? '')
  const browser = await sendLink(deps, email, { confirms: null, to, askedFrom })
  const sent = afterAsking(deps.cookies, { browser, email })
  for (const cookie of sent.cookies) response.append('set-cookie', cookie)
  response.redirect(303, `/sign-in/sent?${sent.query}to=${encodeURIComponent(to)}`)
}

/** A browser with an earlier sign-in has its own limit: others in its network do not use it up. */
function countTry({ limits, cookies, pepper }: SignInDeps, request: Request): void {
  const known = cookies.read(request, 'known')
  limits.countSignIn(isKnownBrowser(pepper, known) ? known : getNetwork(request.ip ?? ''))
}

/**
 * The e-mail address is in a cookie, because URLs are logged. If no link was sent, the browser's earlier one still
 * works.
 */
export function afterAsking(
  cookies: Cookies,
  { browser, email }: { browser: string | null; email: string },
): { cookies: string[]; query: '' | 'many=1&' } {
  const seconds = LINK_MS / 1000
  const sent = cookies.set('sent', Buffer.from(email).toString('base64url'), seconds)
  if (browser === null) return { cookies: [sent], query: 'many=1&' }
  return { cookies: [cookies.set('browser', browser, seconds), sent], query: '' }
}

function sentTo({ cookies, inbox }: SignInDeps, request: Request): SentView {
  const { to, wrong, many, confirm } = request.query
  const sent = cookies.read(request, 'sent')
  return {
    to: readReturnPath(to),
    wrong: wrong !== undefined,
    tooMany: many !== undefined,
    email: sent === null ? null : readEmail(Buffer.from(sent, 'base64url').toString('utf8')),
    confirms: typeof confirm === 'string' && ASKED.test(confirm) ? confirm : null,
    mailUrl: inbox === null ? null : `${inbox.url}/mail`,
  }
}

async function showLink(deps: SignInDeps, request: Request, response: Response): Promise<void> {
  const token = String(request.params['token'])
  const browser = deps.cookies.read(request, 'browser')
  const link =
    browser === null
      ? null
      : await findLink(deps.db, {
          digest: digestOfToken(token),
          browserDigest: digestOfToken(browser),
          now: new Date(deps.clock()).toISOString(),
        })
  if (link === null) return dead(deps, response)
  const asked = await readAsked(deps, deps.db, link)
  const view = {
    platform: deps.platform,
    email: link.email,
    action: `/sign-in/link/${encodeURIComponent(token)}`,
    to: readReturnPath(request.query['to']),
    confirms: asked?.what ?? null,
  }
  response.type('html').send(renderLink(view))
}

async function byLink(deps: SignInDeps, request: Request, response: Response): Promise<void> {
  const { to } = readFields(request)
  const done = await spend(deps, request, { token: String(request.params['token']) })
  if (done === null) return dead(deps, response)
  go(deps, response, { ...done, to })
}

async function byCode(deps: SignInDeps, request: Request, response: Response): Promise<void> {
  const { code, to, confirm } = readFields(request)
  countTry(deps, request)
  const done = await spend(deps, request, { code: asciiDigits(code).replace(/\D/g, '') })
  const asked = ASKED.test(confirm) ? `&confirm=${confirm}` : ''
  const sent = `/sign-in/sent?wrong=1${asked}&to=${encodeURIComponent(readReturnPath(to))}`
  if (done === null) {
    response.redirect(303, sent)
    return logWrongCode(deps, request)
  }
  go(deps, response, { ...done, to })
}

async function byPasskey(deps: SignInDeps, request: Request, response: Response): Promise<void> {
  const { answer, to } = readFields(request)
  countTry(deps, request)
  const done = await deps.db.transaction(async (tx) => {
    const person = await readPasskeyAnswer(deps, tx, { answer, purpose: 'sign-in', ip: request.ip ?? '' })
    if (typeof person === 'string') return person
    const { personId, email } = person
    return { signedIn: { email, cookie: await openSession(deps, { tx, request }, { personId, how: 'passkey' }) } }
  })
  if (typeof done === 'string')
    return response.redirect(303, `/sign-in?passkey=${done}&to=${encodeURIComponent(readReturnPath(to))}`)
  go(deps, response, { ...done, to })
}

/** Null in live mode, whatever is configured: anybody could sign in. */
function demoAddress({ demoEmail, db }: SignInDeps): string | null {
  return db.livemode ? null : demoEmail
}

async function asDemo(deps: SignInDeps, request: Request, response: Response): Promise<void> {
  const { to } = readFields(request)
  const email = demoAddress(deps)
  if (email === null) return response.redirect(303, '/sign-in')
  const cookie = await deps.db.transaction(async (tx) => {
    const person = await findOrInsertPerson(tx, { id: deps.newPersonId(), email })
    return openSession(deps, { tx, request }, { personId: person.id, how: 'demo' })
  })
  go(deps, response, { signedIn: { cookie, email }, to })
}

type Done =
  | { readonly signedIn: { readonly cookie: string; readonly email: string } }
  | { readonly signedIn: null; readonly next: { readonly status: number; readonly to: string } }

const ASKED = /^[\w-]{22}$/

/** Null if the link signs in, or the request has expired. */
async function readAsked(deps: SignInDeps, db: Queryable, { sessionId, confirmationId: id }: SignInLink) {
  return sessionId === null ? null : findConfirmableRequest(deps, db, { id, sessionId })
}

/** Null if the proof is invalid. A link that confirms a session does so only in that session. */
function spend(deps: SignInDeps, request: Request, proof: Proof): Promise<Done | null> {
  return deps.db.transaction(async (tx) => {
    const browser = deps.cookies.read(request, 'browser')
    const link = browser === null ? null : await spendLink(deps, tx, { browser, proof })
    if (link === null) return null
    return link.sessionId === null ? signIn(deps, { tx, request }, link) : confirmOwn(deps, { tx, request }, link)
  })
}

/** Runs after the response is sent: its timing must not reveal whether the address has an account. */
async function logWrongCode({ db, cookies }: SignInDeps, request: Request): Promise<void> {
  const browser = cookies.read(request, 'browser')
  if (browser === null) return
  await db.transaction(async (tx) => {
    const email = await findBrowserAddress(tx, digestOfToken(browser))
    if (email !== null) await writeFailedSignIn(tx, { email }, { how: 'code', ip: request.ip ?? '' })
  })
}

async function signIn(deps: SignInDeps, at: { tx: Tx; request: Request }, { email }: SignInLink) {
  const person = await findOrInsertPerson(at.tx, { id: deps.newPersonId(), email })
  return { signedIn: { email, cookie: await openSession(deps, at, { personId: person.id, how: 'link' }) } }
}

async function confirmOwn(deps: SignInDeps, { tx, request }: { tx: Tx; request: Request }, link: SignInLink) {
  const signedIn = await findSignedIn({ ...deps, db: tx }, request)
  if (signedIn === null || signedIn.session.id !== link.sessionId) return null
  await confirm(deps, tx, signedIn.session.id)
  return { signedIn: null, next: afterConfirming(link.confirmationId, await readAsked(deps, tx, link)) }
}

function go({ cookies, pepper }: SignInDeps, response: Response, done: Done & { to: string }): void {
  const { signedIn } = done
  if (signedIn !== null) {
    const known = knownBrowserToken(pepper, signedIn.email)
    response.append('set-cookie', signedIn.cookie)
    response.append('set-cookie', cookies.set('known', known, KNOWN_BROWSER_SECONDS))
  }
  response.append('set-cookie', cookies.clear('browser'))
  const { status, to } = signedIn === null ? done.next : { status: 303, to: readReturnPath(done.to) }
  response.redirect(status, to)
}

function dead({ platform }: SignInDeps, response: Response): void {
  response.status(404).type('html').send(renderDeadLink(platform))
}
