import { createHash, randomBytes } from 'node:crypto'
import { type Notice, takeNotices } from '../../db/accounts/account-notices.ts'
import { countUntried, insertMail } from '../../db/accounts/mail.ts'
import { listMembers } from '../../db/accounts/people.ts'
import type { Db, Tx } from '../../db/db.ts'
import { insertWalletStop } from '../../db/merchants/wallet-stops.ts'
import { readLanguage } from '../../db/notifications/channels.ts'
import type { NotificationLanguage } from '../../domain/notification/channel.ts'

export type NoticeRoundDeps = {
  readonly db: Db
  /** Seals what the mail round opens. */
  readonly seal: (text: string, id: string) => string
  readonly newMailId: () => string
  readonly publicUrl: string
  /** Composes the mail in the person's language. */
  readonly noticeMail: (
    notice: Pick<Notice, 'account' | 'kind' | 'data'> & {
      testMode: boolean
      publicUrl: string
      stopUrl: string | null
    },
    language: NotificationLanguage,
  ) => { readonly subject: string; readonly text: string }
  /** Unix milliseconds. */
  readonly clock: () => number
}

const PER_ROUND = 20
/**
 * Number of untried mails at which no more are written: those of accounts with many notifications would delay the next
 * ones of others.
 */
export const MOST_UNTRIED = 100
/** Milliseconds for which a notification is worth reading. */
const WORTH_MS = 3 * 86_400_000

/**
 * Writes a mail to each person of the account for each new notification. Mails and the mark on the notification are one
 * transaction: none is written twice, and none is forgotten. A round returns the number of notifications, or null if
 * they must wait because of untried mails; the next one begins with the account that follows.
 */
export function createNoticeRound(deps: NoticeRoundDeps): () => Promise<number | null> {
  let after = ''
  return async function writeNotices() {
    const notices = await deps.db.transaction(async (tx) => {
      if ((await countUntried(tx, { now: iso(deps.clock()), most: MOST_UNTRIED })) === MOST_UNTRIED) return null
      const taken = await takeNotices(tx, iso(deps.clock()), { limit: PER_ROUND, after })
      for (const notice of taken) await writeMails(deps, tx, notice)
      return taken
    })
    after = notices?.at(-1)?.merchantId ?? after
    return notices?.length ?? null
  }
}

async function writeMails(deps: NoticeRoundDeps, tx: Tx, notice: Notice): Promise<void> {
  const { merchantId, data } = notice
  const now = deps.clock()
  const nextAt = notice.kind === 'wallet.changed' && typeof data['at'] === 'string' ? data['at'] : null
  // A sign-in is mailed only to its person; everybody else has the chats of the account.
  const about = notice.kind === 'sign_in.new' ? data['person'] : undefined
  for (const { personId, email: to } of await listMembers(tx, merchantId)) {
    if (about !== undefined && personId !== about) continue
    const stopUrl = nextAt === null ? null : await stopLink(deps, tx, { merchantId, personId, nextAt })
    const testMode = !tx.livemode
    const language = await readLanguage(tx, { merchantId, personId })
    const mail = { to, ...deps.noticeMail({ ...notice, testMode, publicUrl: deps.publicUrl, stopUrl }, language) }
    const id = deps.newMailId()
    const sealed = deps.seal(JSON.stringify(mail), id)
    await insertMail(tx, { id, sealed, now: iso(now), expiresAt: iso(now + WORTH_MS) })
  }
}

async function stopLink(
  { publicUrl }: NoticeRoundDeps,
  tx: Tx,
  stop: { merchantId: string; personId: string; nextAt: string },
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const digest = createHash('sha256').update(token).digest()
  await insertWalletStop(tx, { ...stop, livemode: tx.livemode, digest })
  return `${publicUrl}/wallet/stop/${token}`
}

const iso = (ms: number): string => new Date(ms).toISOString()
