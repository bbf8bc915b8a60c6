import { afterAll, beforeAll, test } from '@jest/globals'
import { expectAllRefused, readCorpus } from '../support/refused/corpus.ts'
import { openShop, type Shop } from '../support/shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
}, 60_000)
afterAll(() => shop?.close())

test('more than 600 invalid requests are each refused as a problem, and nothing is stored', async () => {
  await expectAllRefused(shop, await readCorpus(shop))
}, 180_000)
