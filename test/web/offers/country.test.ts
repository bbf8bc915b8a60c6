import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import supertest from 'supertest'
import { createLocate } from '../../../src/config/countries.ts'
import { type CheckoutWorld, createCheckoutWorld } from '../checkout-world.ts'
import { countriesFile } from './mmdb.ts'

const folder = mkdtempSync(join(tmpdir(), 'countries-'))
const file = join(folder, 'countries.mmdb')
let world: CheckoutWorld
beforeAll(async () => {
  writeFileSync(
    file,
    countriesFile({ '198.51.100.0/24': 'BR', '203.0.113.0/25': 'DE', '127.0.0.0/8': 'BR', '192.0.2.0/24': 'ZZ' }),
  )
  world = await createCheckoutWorld({ locate: createLocate(file) })
})
afterAll(async () => {
  await world?.close()
  rmSync(folder, { recursive: true })
})

test('the file of countries says where an address is, and of others that it does not know', () => {
  const locate = createLocate(file)
  expect(
    ['198.51.100.7', '::ffff:203.0.113.127', '203.0.113.128', '8.8.8.8', '192.0.2.1', 'x', ''].map(locate),
  ).toEqual(['BR', 'DE', null, null, null, null, null])
  expect(() => createLocate(join(folder, 'missing.mmdb'))).toThrow('ENOENT')
})

test('the buyer is where the address is, unless the proxy or the buyer says otherwise', async () => {
  const { path, id } = await world.create({ provider: 'wallet_app' })
  const get = (headers: Record<string, string> = {}) => supertest(world.url).get(path).set(headers).expect(200)
  expect((await get()).text).toContain('Paying by banking app is not offered in Brazil')
  expect((await get({ 'x-country': 'DE' })).text).toContain('Continue to Velanto')
  expect((await get({ cookie: 'pinrail_country=DE' })).text).toContain('Continue to Velanto')
  await supertest(world.url).post(`${path}/opened`).expect(204)
  expect((await world.timeline(id, 'checkout.route'))[0]?.data).toMatchObject({
    country: 'BR',
    country_source: 'address',
  })
})
