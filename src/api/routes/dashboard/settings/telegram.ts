import { createHash, randomBytes } from 'node:crypto'
import type { Db } from '../../../../db/db.ts'
import { findBotName, insertTelegramLink } from '../../../../db/notifications/telegram.ts'
import { renderTelegram, renderTelegramLink } from '../../../../web/dashboard/settings/telegram.tsx'
import { SiteProblem } from '../../site-problem.ts'
import { definePage, type Page } from '../page.ts'

export type TelegramPageDeps = { readonly db: Db; readonly clock: () => number }

const PATH = '/dashboard/notifications/telegram'
/** Milliseconds, long enough to find the phone. */
const LINK_MS = 15 * 60_000

/** The link is shown once. The chat of anybody who opens it receives the account's notifications. */
export function telegramPages({ db, clock }: TelegramPageDeps): Page[] {
  const botName = async (): Promise<string> => {
    const bot = await findBotName(db, iso(clock()))
    if (bot === null) throw new SiteProblem('not_found')
    return bot
  }
  return [
    definePage({
      method: 'get',
      path: PATH,
      needs: 'develop',
      handle: async ({ frame }) => ({ html: renderTelegram({ frame, bot: await botName() }) }),
    }),
    definePage({
      method: 'post',
      path: PATH,
      needs: 'develop',
      fresh: { what: 'a link that connects Telegram', back: PATH },
      handle: async ({ frame, tenant, person }) => {
        const bot = await botName()
        const token = randomBytes(32).toString('base64url')
        const digest = createHash('sha256').update(token).digest()
        const [now, expiresAt] = [iso(clock()), iso(clock() + LINK_MS)]
        await db.transaction((tx) => insertTelegramLink(tx, { ...tenant, digest, personId: person.id, now, expiresAt }))
        return { html: renderTelegramLink({ frame, bot, token, expiresAt }) }
      },
    }),
  ]
}

const iso = (ms: number): string => new Date(ms).toISOString()
