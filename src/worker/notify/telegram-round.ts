import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Db, Tx } from '../../db/db.ts'
import {
  forgetUpdates,
  leaseUpdates,
  nameBot,
  noteUpdate,
  releaseUpdates,
  takeTelegramLink,
} from '../../db/notifications/telegram.ts'
import type { Logger } from '../../runtime/log.ts'

/** Returns the Bot API's `result`, or why there is none. Throws if no response arrived. */
export type AskBot = (method: 'getMe' | 'getUpdates', parameters: object) => Promise<BotAnswer>
export type BotAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly status: number; readonly retryAfterSeconds: number | null }

export type LinkedChat = {
  readonly merchantId: string
  readonly personId: string
  /** The chat's id, as the Bot API takes it. */
  readonly chat: string
  readonly name: string
}

export type TelegramRoundDeps = {
  readonly db: Db
  /** The part of the token before the colon. */
  readonly botId: string
  readonly ask: AskBot
  /** Makes the chat a channel of the account; returns false if the person must not do that any more. */
  readonly link: (tx: Tx, chat: LinkedChat) => Promise<boolean>
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly log: Logger
}

/** Milliseconds for which a reader owns its updates: more than one answer takes. */
const LEASE_MS = 30_000
export const UPDATES_AT_ONCE = 10
/** Milliseconds of rest after a refusal that names none, for example because another program reads the updates. */
const REFUSED_PAUSE_MS = 30_000

const me = z.object({ username: z.string().regex(/^\w{3,64}$/) })
const chatShape = z.object({
  id: z.number().int(),
  title: z.string().optional(),
  username: z.string().optional(),
  first_name: z.string().optional(),
})
const updates = z.array(z.looseObject({ update_id: z.number().int() }))
const started = z.object({ message: z.object({ text: z.string(), chat: chatShape }) })
/** A private chat sends the first form, a group the second (https://core.telegram.org/bots/features#deep-linking). */
const START = /^\/start(?:@\w+)? ([\w-]{43})$/

/**
 * Reads who has opened a link of the platform, while links are open. Returns the number of updates read. One process at
 * a time reads, so that no update goes to two; a read update is recorded with its result, in one transaction.
 */
export async function readTelegram(deps: TelegramRoundDeps): Promise<number> {
  const { db, botId, clock } = deps
  const now = clock()
  const offset = await leaseUpdates(db, { id: botId, now: iso(now), until: iso(now + LEASE_MS) })
  if (offset === null) return 0
  const answer = await deps.ask('getUpdates', {
    offset,
    limit: UPDATES_AT_ONCE,
    timeout: 0,
    allowed_updates: ['message'],
  })
  if (!answer.ok) return rest(deps, answer)
  const read = updates.parse(answer.result)
  for (const update of read)
    await db.transaction(async (tx) => {
      await noteUpdate(tx, botId, update.update_id + 1)
      await readUpdate(deps, tx, update)
    })
  // After a week without one, Telegram continues with any number (https://core.telegram.org/bots/api#update): one below
  // the last would be discarded as read. All before it are confirmed by now, so nothing is read twice.
  if (read.length === 0 && offset !== 0) await forgetUpdates(db, botId)
  await releaseUpdates(db, botId, iso(clock()))
  return read.length
}

/** Reads the name of the bot, without which no link can be made. */
export async function introduceBot({ db, botId, ask, clock }: TelegramRoundDeps): Promise<void> {
  const answer = await ask('getMe', {})
  if (!answer.ok) throw new Error(`Telegram refuses the bot (HTTP ${answer.status}): look at TELEGRAM_BOT_TOKEN`)
  const { username } = me.parse(answer.result)
  await db.transaction((tx) => nameBot(tx, { id: botId, username, now: iso(clock()) }))
}

async function rest({ db, botId, clock, log }: TelegramRoundDeps, refused: BotAnswer & { ok: false }): Promise<number> {
  const { status, retryAfterSeconds } = refused
  log.warn({ status }, 'Telegram does not give the updates of the bot; chats are linked later')
  const pause = retryAfterSeconds === null ? REFUSED_PAUSE_MS : retryAfterSeconds * 1000
  await releaseUpdates(db, botId, iso(clock() + pause))
  return 0
}

/** Ignores anything but the opening of an open link: strangers may write to a bot what they like. */
async function readUpdate({ link, clock }: TelegramRoundDeps, tx: Tx, update: unknown): Promise<void> {
  const message = started.safeParse(update).data?.message
  const token = START.exec(message?.text ?? '')?.[1]
  if (message === undefined || token === undefined) return
  const digest = createHash('sha256').update(token).digest()
  const taken = await takeTelegramLink(tx, { digest, now: iso(clock()) })
  if (taken === null) return
  const { id, title, username, first_name: firstName } = message.chat
  const name = title ?? (username === undefined ? firstName : `@${username}`) ?? ''
  await link(tx, { ...taken, chat: String(id), name })
}

const iso = (ms: number): string => new Date(ms).toISOString()
