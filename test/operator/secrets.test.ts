import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { BOX_KEY, PEPPER, TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { insertChannel, listChannels } from '../../src/db/notifications/channels.ts'
import { insertEndpoint, listEndpoints } from '../../src/db/webhooks/webhook-endpoints.ts'
import { newId } from '../../src/ids.ts'
import { runPinrail } from '../../src/operator/command.ts'
import { createSecretBox } from '../../src/webhooks/secret-box.ts'
import { openShop, type Shop } from '../api/support/shop.ts'

/** The rotation of the pepper and of the key of webhook secrets, with the old ones accepted until nothing needs them. */

const NEW_PEPPER = randomBytes(32).toString('base64')
const NEW_KEY = randomBytes(32).toString('base64')

let shop: Shop
const rotated = {
  API_KEY_PEPPER: NEW_PEPPER,
  RETIRED_API_KEY_PEPPERS: PEPPER,
  WEBHOOK_ENCRYPTION_KEY: NEW_KEY,
  RETIRED_WEBHOOK_ENCRYPTION_KEYS: BOX_KEY,
}
beforeAll(async () => {
  shop = await openShop({ deps: () => ({ pepper: NEW_PEPPER, retiredPeppers: [PEPPER] }) })
})
afterAll(() => shop?.close())

async function pinrail(...args: string[]): Promise<{ code: number; text: string }> {
  let text = ''
  const add = (more: string): void => void (text += more)
  const env = { ...TEST_ENVIRONMENT, ...rotated, DATABASE_URL: shop.databaseUrl }
  return { code: await runPinrail({ args, env }, { out: add, err: add }), text }
}

test('a key by the old pepper is accepted, and rests on the new one from its first use on', async () => {
  expect((await pinrail('secrets', 'status')).text).toContain('1 keys in use are by a retired pepper')
  expect((await shop.ask('GET', '/v1/payments')).status).toBe(200)
  await shop.written()
  expect(await pinrail('secrets', 'status')).toMatchObject({ code: 0, text: expect.stringContaining('0 keys in use') })
  const other = await openShop({ deps: () => ({ pepper: NEW_PEPPER, retiredPeppers: [] }) })
  try {
    // Without the old pepper a key that was never used since is unknown.
    expect((await other.ask('GET', '/v1/payments')).status).toBe(401)
  } finally {
    await other.close()
  }
})

test('secrets reseal takes endpoints and channels from the old key to the new one, and a second time does nothing', async () => {
  const id = newId('endpoint')
  const sealedSecret = createSecretBox(BOX_KEY).seal('whsec_of_old', id)
  const wanted = { url: 'https://shop.example', description: null, enabledEvents: ['payment.succeeded'], sealedSecret }
  await insertEndpoint(shop.db, shop.tenant, { id, ...wanted })
  const channel = newId('channel')
  const sealed = createSecretBox(BOX_KEY).seal('https://hooks.slack.com/services/T0/B0/secret', channel)
  const [kind, at, quiet] = ['slack', new Date().toISOString(), null] as const
  const named = { kind, name: '#payments', sealed, person_id: null, events: [], language: 'en' as const, quiet, at }
  await insertChannel(shop.db, shop.tenant, { id: channel, ...named })
  expect((await pinrail('secrets', 'status')).code).toBe(1)
  const resealed = (endpoints: number, channels: number) =>
    `${endpoints} webhook endpoints and ${channels} notification channels are sealed by the current key now\n`
  expect((await pinrail('secrets', 'reseal')).text).toBe(resealed(1, 1))
  expect((await pinrail('secrets', 'reseal')).text).toBe(resealed(0, 0))
  const [told] = await listChannels(shop.db, shop.tenant)
  expect(createSecretBox(NEW_KEY).open(told?.sealed ?? '', channel)).toBe(
    'https://hooks.slack.com/services/T0/B0/secret',
  )
  const [endpoint] = await listEndpoints(shop.db, shop.tenant)
  expect(createSecretBox(NEW_KEY).open(endpoint?.secrets[0]?.sealed ?? '', id)).toBe('whsec_of_old')
  expect(await pinrail('secrets', 'status')).toMatchObject({
    code: 0,
    text: expect.stringContaining('can be taken away'),
  })
})
