import { expect, test } from '@jest/globals'
import { collectAnswers } from '../support/same-key.ts'
import { openShop } from '../support/shop.ts'

test('200 keys, each used by 20 requests at once, make 200 payments', async () => {
  const shop = await openShop({ deps: () => ({ onStarted: () => undefined, onKeyUsed: () => undefined }) })
  try {
    expect((await collectAnswers(shop, { waves: 10 })).size).toBe(200)
    expect(await shop.count('payment')).toBe(200)
  } finally {
    await shop.close()
  }
}, 300_000)
