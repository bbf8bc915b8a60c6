import type { Request } from 'express'
import { z } from 'zod'
import { writeAuditEverywhere } from '../../../db/accounts/audit.ts'
import { countPasskeys, deletePasskey, insertPasskey, listPasskeys } from '../../../db/accounts/passkeys.ts'
import { listMemberships, lockPerson } from '../../../db/accounts/people.ts'
import { endSessions, listSessions, type Session } from '../../../db/accounts/sessions.ts'
import { KNOWN_BROWSER } from '../../../db/accounts/sign-in-links.ts'
import type { Tx } from '../../../db/db.ts'
import { IDLE_MS, MOST_PASSKEYS } from '../../../domain/account/session.ts'
import { renderAccount } from '../../../web/dashboard/account.tsx'
import {
  type PasskeyProblem,
  passkeyProblem,
  renderConfirm,
  renderPasskeyOffer,
} from '../../../web/sign-in/sign-in.tsx'
import { afterConfirming, type ConfirmableRequest, findConfirmableRequest } from '../../accounts/confirmations.ts'
import { sendLink } from '../../accounts/links.ts'
import {
  arePasskeysPossible,
  creationOptions,
  readNewPasskey,
  readPasskeyAnswer,
  requestOptions,
} from '../../accounts/passkeys.ts'
import { confirm } from '../../accounts/sessions.ts'
import { afterAsking } from '../sign-in/sign-in.ts'
import { type OwnDeps, ownDataPages } from './own-data.ts'
import { definePersonPage, type Page, type PageAnswer, type PersonCall } from './page.ts'

const id = z.object({ id: z.string().max(1400) })
const withAsked = z.object({ asked: z.string().max(100).default('') })
const answered = withAsked.extend({ answer: z.string().max(20_000) })

export function ownPages(deps: OwnDeps): Page[] {
  return [...sessionPages(deps), ...passkeyPages(deps), ...confirmPages(deps), ...ownDataPages(deps)]
}

const iso = (deps: OwnDeps, before = 0): string => new Date(deps.clock() - before).toISOString()

function sessionPages(deps: OwnDeps): Page[] {
  return [
    definePersonPage({
      method: 'get',
      path: '/dashboard/account',
      handle: async ({ person, signedIn, frame }) => {
        const sessions = await listSessions(deps.db, person.id, iso(deps, IDLE_MS))
        const passkeys = await listPasskeys(deps.db, person.id)
        const shown = sessions.map((session) => ({
          id: session.id,
          device: deviceName(session.userAgent),
          ip: session.ip,
          usedAt: new Date(session.usedAt).toISOString(),
          isThis: session.id === signedIn.session.id,
        }))
        return { html: renderAccount({ frame, passkeys, sessions: shown, now: iso(deps) }) }
      },
    }),
    definePersonPage({
      method: 'post',
      path: '/dashboard/sign-out',
      handle: async ({ signedIn: { session } }) => {
        await endSessions(deps.db, session.personId, { only: session.id, now: iso(deps) })
        return { to: '/sign-in', done: null, cookies: [deps.cookies.clear('session')] }
      },
    }),
    definePersonPage({
      method: 'post',
      path: '/dashboard/sessions/end',
      form: id,
      handle: async ({ person, form }) => {
        await endSessions(deps.db, person.id, { only: form.id, now: iso(deps) })
        return { to: '/dashboard/account', done: 'session_ended' }
      },
    }),
    definePersonPage({
      method: 'post',
      path: '/dashboard/sessions/end-others',
      handle: async ({ person, signedIn: { session } }) => {
        await endSessions(deps.db, person.id, { allBut: session.id, now: iso(deps) })
        return { to: '/dashboard/account', done: 'sessions_ended' }
      },
    }),
  ]
}

function passkeyPages(deps: OwnDeps): Page[] {
  const back = '/dashboard/account'
  const added = { what: 'a new passkey', back }
  return [
    definePersonPage({
      method: 'get',
      path: '/dashboard/passkey',
      fresh: added,
      handle: async ({ frame: { platform }, query, person, signedIn: { session }, csrf }) => {
        const options = arePasskeysPossible(deps.publicUrl)
          ? await creationOptions(deps, deps.db, { platform, sessionId: session.id, person })
          : null
        return { html: renderPasskeyOffer({ platform, csrf, options, problem: passkeyProblem(query['problem']) }) }
      },
    }),
    definePersonPage({
      method: 'post',
      path: '/dashboard/passkeys',
      fresh: added,
      form: answered,
      handle: async (call) => {
        const { session } = call.signedIn
        const problem = await deps.db.transaction(async (tx): Promise<PasskeyProblem | null> => {
          const made = await readNewPasskey(deps, tx, { answer: call.form.answer, sessionId: session.id })
          if (made === null) return 'failed'
          await lockPerson(tx, call.person.id)
          if ((await countPasskeys(tx, call.person.id)) >= MOST_PASSKEYS) return 'too_many'
          const name = deviceName(readAgent(call.request))
          if (!(await insertPasskey(tx, { ...made, personId: call.person.id, name }))) return 'known'
          await auditEverywhere(tx, call, 'passkey.added')
          // Ends the older sessions, so that a stolen one does not outlive the new way to sign in.
          await endSessions(tx, call.person.id, { allBut: session.id, now: iso(deps) })
          return null
        })
        return problem === null
          ? { to: '/dashboard/account', done: 'passkey_added' }
          : { to: `/dashboard/passkey?problem=${problem}`, done: null }
      },
    }),
    definePersonPage({
      method: 'post',
      path: '/dashboard/passkeys/remove',
      fresh: { what: 'the removal of a passkey', back },
      form: id,
      handle: async (call) => {
        await deps.db.transaction(async (tx) => {
          if (!(await deletePasskey(tx, call.person.id, call.form.id))) return
          await auditEverywhere(tx, call, 'passkey.removed')
          await endSessions(tx, call.person.id, { allBut: call.signedIn.session.id, now: iso(deps) })
        })
        return { to: back, done: 'passkey_removed' }
      },
    }),
  ]
}

function confirmPages(deps: OwnDeps): Page[] {
  const possible = arePasskeysPossible(deps.publicUrl)
  const confirmPurpose = (session: Session) => `confirm ${session.id}` as const
  const path = '/dashboard/confirm'
  const asking = async (
    { signedIn: { session } }: PersonCall,
    id: string | undefined,
    work: (asked: ConfirmableRequest & { readonly id: string }) => Promise<PageAnswer>,
  ): Promise<PageAnswer> => {
    const asked = await findConfirmableRequest(deps, deps.db, { id, sessionId: session.id })
    return asked === null || id === undefined ? { to: '/dashboard', done: null } : work({ ...asked, id })
  }
  return [
    definePersonPage({
      method: 'get',
      path,
      handle: (call) =>
        asking(call, call.query['asked'], async (asked) => {
          const { csrf, person, signedIn, query, frame } = call
          const { platform } = frame
          const has = possible && (await listPasskeys(deps.db, person.id)).length > 0
          const passkeyOptions = has ? await requestOptions(deps, confirmPurpose(signedIn.session)) : null
          const problem = passkeyProblem(query['problem'])
          return { html: renderConfirm({ platform, csrf, asked, passkeyOptions, problem, email: person.email }) }
        }),
    }),
    definePersonPage({
      method: 'post',
      path,
      form: withAsked,
      handle: (call) =>
        asking(call, call.form.asked, async ({ id, what }) => {
          const { email } = call.person
          const confirms = { sessionId: call.signedIn.session.id, confirmationId: id, what }
          const browser = await sendLink(deps, email, { confirms, to: '/dashboard', askedFrom: KNOWN_BROWSER })
          const { query, cookies } = afterAsking(deps.cookies, { browser, email })
          return { to: `/sign-in/sent?${query}confirm=${id}`, done: null, cookies }
        }),
    }),
    definePersonPage({
      method: 'post',
      path: `${path}/passkey`,
      form: answered,
      handle: (call) =>
        asking(call, call.form.asked, async (asked) => {
          const { session } = call.signedIn
          const problem = await deps.db.transaction(async (tx): Promise<PasskeyProblem | null> => {
            const answer = { answer: call.form.answer, purpose: confirmPurpose(session), ip: call.ip }
            const found = await readPasskeyAnswer(deps, tx, answer)
            if (typeof found === 'string') return found
            if (found.personId !== call.person.id) return 'of_another'
            await confirm(deps, tx, session.id)
            return null
          })
          if (problem !== null) return { to: `${path}?problem=${problem}&asked=${asked.id}`, done: null }
          return { ...afterConfirming(asked.id, asked), done: null }
        }),
    }),
  ]
}

const auditEverywhere = async (tx: Tx, { person, ip }: PersonCall, action: string): Promise<void> =>
  writeAuditEverywhere(tx, await listMemberships(tx, person.id), { actor: person.id, action, data: {}, ip })

const readAgent = (request: Request): string => request.get('user-agent') ?? ''

/** Enough to recognize one's own device; a user agent proves nothing. */
function deviceName(agent: string): string {
  const browser = /Edg\//.test(agent)
    ? 'Edge'
    : /Firefox\//.test(agent)
      ? 'Firefox'
      : /Chrome\//.test(agent)
        ? 'Chrome'
        : /Safari\//.test(agent)
          ? 'Safari'
          : 'A browser'
  const system = /Android/.test(agent)
    ? 'Android'
    : /iPhone|iPad/.test(agent)
      ? 'iOS'
      : /Mac OS X/.test(agent)
        ? 'macOS'
        : /Windows/.test(agent)
          ? 'Windows'
          : /Linux/.test(agent)
            ? 'Linux'
            : null
  return system === null ? browser : `${browser} on ${system}`
}
