import { derivePepperId } from '../../api/auth/api-key.ts'
import { splitSecrets } from '../../config/secret.ts'
import type { Tx } from '../../db/db.ts'
import {
  countPeppers,
  listSealed,
  listSealedAnswers,
  listSealedChannels,
  listSealedMails,
  type SealedEndpoint,
  storeSealed,
  storeSealedChannel,
} from '../../db/operator/secrets.ts'
import { plural } from '../../domain/plural.ts'
import { createSecretBox, type SecretBox } from '../../webhooks/secret-box.ts'
import { type CommandContext, UsageError } from '../call.ts'

const TOGETHER = 100

/** Returns 1 if anything still depends on retired secrets: then they must stay configured. */
export async function showSecrets(context: CommandContext): Promise<number> {
  const { db, settings, say, give } = context
  if (settings.API_KEY_PEPPER === undefined) throw new UsageError('API_KEY_PEPPER must be set')
  const box = openBox(context)
  const current = derivePepperId(settings.API_KEY_PEPPER.reveal())
  const peppers = await countPeppers(db)
  const keys = peppers.filter(({ pepper_id }) => pepper_id !== current).reduce((sum, one) => sum + one.keys, 0)
  const endpoints = (await every((page) => listSealed(db, page))).filter((endpoint) => !isCurrent(box, endpoint)).length
  const addresses = await every((page) => listSealedChannels(db, page))
  const channels = addresses.filter(({ sealed }) => !box.isCurrent(sealed)).length
  const answers = (await listSealedAnswers(db)).filter(({ body }) => !box.isCurrent(body)).length
  const mails = (await listSealedMails(db)).filter(({ sealed }) => !box.isCurrent(sealed)).length
  give('retired', { keys, endpoints, channels, answers, mails })
  say(
    `${plural(keys, 'key in use has', 'keys in use have')} a digest by a retired pepper: each gets one by the current pepper when it is used`,
  )
  say(
    `${plural(endpoints, 'webhook endpoint is', 'webhook endpoints are')} sealed by a retired key: \`pinrail secrets reseal\``,
  )
  say(
    `${plural(channels, 'notification channel is', 'notification channels are')} sealed by a retired key: \`pinrail secrets reseal\``,
  )
  say(
    `${plural(answers, 'stored response is', 'stored responses are')} sealed by a retired key until deleted, after 30 days`,
  )
  say(
    `${plural(mails, 'waiting e-mail is', 'waiting e-mails are')} sealed by a retired key until sent or expired, within days`,
  )
  const isFree = keys + endpoints + channels + answers + mails === 0
  say(
    isFree ? 'RETIRED_API_KEY_PEPPERS and RETIRED_WEBHOOK_ENCRYPTION_KEYS can be removed' : 'keep the retired secrets',
  )
  return isFree ? 0 : 1
}

/** Repeating it changes nothing. */
export async function resealSecrets(context: CommandContext): Promise<number> {
  const { say, give } = context
  const box = openBox(context)
  const endpoints = await resealPages(context, {
    read: listSealed,
    isOld: (endpoint) => !isCurrent(box, endpoint),
    write: (tx, endpoint) => storeSealed(tx, again(box, endpoint)),
  })
  const channels = await resealPages(context, {
    read: listSealedChannels,
    isOld: ({ sealed }) => !box.isCurrent(sealed),
    write: (tx, { id, sealed }) => storeSealedChannel(tx, { id, sealed: box.seal(box.open(sealed, id), id) }),
  })
  give('resealed', { endpoints, channels })
  say(
    `resealed with the current key: ${plural(endpoints, 'webhook endpoint')}, ${plural(channels, 'notification channel')}`,
  )
  return 0
}

type Sealed<T> = {
  readonly read: (tx: Tx, page: { after: string; limit: number }) => Promise<T[]>
  readonly isOld: (row: T) => boolean
  readonly write: (tx: Tx, row: T) => Promise<void>
}

/** Returns the number of rows that were sealed again. */
async function resealPages<T extends { readonly id: string }>(
  { db }: CommandContext,
  { read, isOld, write }: Sealed<T>,
): Promise<number> {
  let resealed = 0
  for (let after = ''; ; ) {
    const page = await db.transaction(async (tx) => {
      const rows = await read(tx, { after, limit: TOGETHER })
      for (const row of rows.filter(isOld)) {
        await write(tx, row)
        resealed += 1
      }
      return rows
    })
    after = page.at(-1)?.id ?? after
    if (page.length < TOGETHER) return resealed
  }
}

const isCurrent = (box: SecretBox, { secrets }: SealedEndpoint): boolean =>
  secrets.every(({ sealed }) => box.isCurrent(sealed))

const again = (box: SecretBox, { id, secrets }: SealedEndpoint): SealedEndpoint => ({
  id,
  secrets: secrets.map((secret) => ({ ...secret, sealed: box.seal(box.open(secret.sealed, id), id) })),
})

type Page = { readonly after: string; readonly limit: number }

async function every<T extends { readonly id: string }>(read: (page: Page) => Promise<T[]>): Promise<T[]> {
  const all: T[] = []
  for (;;) {
    const page = await read({ after: all.at(-1)?.id ?? '', limit: TOGETHER })
    all.push(...page)
    if (page.length < TOGETHER) return all
  }
}

function openBox({ settings }: CommandContext): SecretBox {
  if (settings.WEBHOOK_ENCRYPTION_KEY === undefined) throw new UsageError('WEBHOOK_ENCRYPTION_KEY must be set')
  return createSecretBox(
    settings.WEBHOOK_ENCRYPTION_KEY.reveal(),
    splitSecrets(settings.RETIRED_WEBHOOK_ENCRYPTION_KEYS),
  )
}
