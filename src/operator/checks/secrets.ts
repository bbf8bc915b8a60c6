import { pepperIdOf } from '../../api/auth/api-key.ts'
import { listOf } from '../../config/secret.ts'
import {
  countPeppers,
  listSealed,
  listSealedAnswers,
  type SealedEndpoint,
  storeSealed,
} from '../../db/operator/secrets.ts'
import { createSecretBox, type SecretBox } from '../../webhooks/secret-box.ts'
import { type Office, UsageError } from '../call.ts'

/** Endpoints that are read and sealed again in one transaction. */
const TOGETHER = 100

/** What still rests on retired secrets. Answers 1 when something does: then they must stay configured. */
export async function showSecrets(office: Office): Promise<number> {
  const { db, settings, say, give } = office
  if (settings.API_KEY_PEPPER === undefined) throw new UsageError('API_KEY_PEPPER must be set')
  const box = boxOf(office)
  const current = pepperIdOf(settings.API_KEY_PEPPER.reveal())
  const peppers = await countPeppers(db)
  const keys = peppers.filter(({ pepper_id }) => pepper_id !== current).reduce((sum, one) => sum + one.keys, 0)
  const endpoints = (await everyEndpoint(office)).filter((endpoint) => !isCurrent(box, endpoint)).length
  const answers = (await listSealedAnswers(db)).filter(({ body }) => !box.isCurrent(body)).length
  give('retired', { keys, endpoints, answers })
  say(`${keys} keys in use are by a retired pepper, or by one without a name: each changes when it is used`)
  say(`${endpoints} webhook endpoints are sealed by a retired key: \`pinrail secrets reseal\``)
  say(`${answers} stored answers are sealed by a retired key: they are gone after 30 days`)
  const isFree = keys + endpoints + answers === 0
  say(
    isFree ? 'RETIRED_API_KEY_PEPPERS and RETIRED_WEBHOOK_ENCRYPTION_KEYS can be taken away' : 'keep the retired ones',
  )
  return isFree ? 0 : 1
}

/** Seals the secrets of all endpoints with the current key. Doing it again changes nothing. */
export async function resealSecrets(office: Office): Promise<number> {
  const { db, say, give } = office
  const box = boxOf(office)
  let resealed = 0
  for (let after = ''; ; ) {
    const page = await db.transaction(async (tx) => {
      const endpoints = await listSealed(tx, { after, limit: TOGETHER })
      for (const endpoint of endpoints.filter((one) => !isCurrent(box, one))) {
        await storeSealed(tx, again(box, endpoint))
        resealed += 1
      }
      return endpoints
    })
    after = page.at(-1)?.id ?? after
    if (page.length < TOGETHER) break
  }
  give('resealed', resealed)
  say(`${resealed} webhook endpoints are sealed by the current key now`)
  return 0
}

const isCurrent = (box: SecretBox, { secrets }: SealedEndpoint): boolean =>
  secrets.every(({ sealed }) => box.isCurrent(sealed))

const again = (box: SecretBox, { id, secrets }: SealedEndpoint): SealedEndpoint => ({
  id,
  secrets: secrets.map((secret) => ({ ...secret, sealed: box.seal(box.open(secret.sealed, id), id) })),
})

async function everyEndpoint({ db }: Office): Promise<SealedEndpoint[]> {
  const all: SealedEndpoint[] = []
  for (;;) {
    const page = await listSealed(db, { after: all.at(-1)?.id ?? '', limit: TOGETHER })
    all.push(...page)
    if (page.length < TOGETHER) return all
  }
}

function boxOf({ settings }: Office): SecretBox {
  if (settings.WEBHOOK_ENCRYPTION_KEY === undefined) throw new UsageError('WEBHOOK_ENCRYPTION_KEY must be set')
  return createSecretBox(settings.WEBHOOK_ENCRYPTION_KEY.reveal(), listOf(settings.RETIRED_WEBHOOK_ENCRYPTION_KEYS))
}
