import { giveUpMail, mailFailed, mailWasRefused, mailWasSent, takeDueMail } from '../../db/accounts/mail.ts'
import type { Db } from '../../db/db.ts'
import type { Logger } from '../../runtime/log.ts'

export type MailRoundDeps = {
  readonly db: Db
  /** Opens what the api has sealed. Throws if it was altered. */
  readonly open: (sealed: string, id: string) => string
  readonly send: (mail: { id: string; to: string; subject: string; text: string }) => Promise<void>
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly log: Logger
}

const PER_ROUND = 20
/** Maximum number of mails in a round that were tried before, in addition to these. */
const RETRIES = 5
/** Milliseconds for which a mail belongs to the round that took it: more than one send can take. */
const TAKEN_MS = 120_000
/** Milliseconds until the next try, doubled each time. A link works for 15 minutes, so tries are close. */
const FIRST_RETRY_MS = 5_000
const LONGEST_RETRY_MS = 120_000

/** Sends the mails that are due. Returns the number sent. A mail that fails delays no other. */
export async function sendDueMail(deps: MailRoundDeps): Promise<number> {
  const { db, clock, log } = deps
  const iso = (after = 0): string => new Date(clock() + after).toISOString()
  const lost = await giveUpMail(db, iso())
  if (lost > 0) log.error({ mails: lost }, 'mails were not sent in time and are given up: look at the mail server')
  const due = await takeDueMail(db, { now: iso(), again: iso(TAKEN_MS), limit: PER_ROUND, retries: RETRIES })
  const results = await Promise.all(
    due.map(async ({ id, sealed, tries }) => {
      try {
        await deps.send({ id, ...(JSON.parse(deps.open(sealed, id)) as { to: string; subject: string; text: string }) })
        await mailWasSent(db, id)
        return true
      } catch (error) {
        const failure = describeFailure(error)
        if (isRefused(error)) {
          log.warn({ mail: id, tries, failure }, 'a mail was refused and is given up: its mailbox might not exist')
          await mailWasRefused(db, { id, failure })
          return false
        }
        log.warn({ mail: id, tries, failure }, 'a mail could not be sent yet')
        const delay = Math.min(FIRST_RETRY_MS * 2 ** (tries - 1), LONGEST_RETRY_MS)
        await mailFailed(db, { id, failure, nextAt: iso(delay) })
        return false
      }
    }),
  )
  return results.filter(Boolean).length
}

/** The server refuses this mail forever (RFC 5321, 4.2.1), and not all mails, as without a valid sign-in. */
function isRefused(error: unknown): boolean {
  const { responseCode, command } = error as { responseCode?: unknown; command?: unknown }
  return Number(responseCode) >= 500 && (command === 'RCPT TO' || command === 'DATA')
}

/** Returns only the code: answers of mail servers repeat addresses. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code = 'code' in error ? String(error.code) : error.name
  return 'responseCode' in error ? `${code} ${String(error.responseCode)}` : code
}
