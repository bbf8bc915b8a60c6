import { expect, test } from '@jest/globals'
import { collectAnswers } from '../support/same-key.ts'
import { openTestApi } from '../support/test-api.ts'

test('200 keys, each used by 20 requests at once, make 200 payments', async () => {
  const testApi = await openTestApi({ deps: () => ({ onStarted: () => undefined, onKeyUsed: () => undefined }) })
  try {
    expect((await collectAnswers(testApi, { waves: 10 })).size).toBe(200)
    expect(await testApi.count('payment')).toBe(200)
  } finally {
    await testApi.close()
  }
}, 300_000)
