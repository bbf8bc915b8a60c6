import { afterAll, beforeAll, test } from '@jest/globals'
import { expectAllRefused, readCorpus } from '../support/refused/corpus.ts'
import { openTestApi, type TestApi } from '../support/test-api.ts'

let testApi: TestApi
beforeAll(async () => {
  testApi = await openTestApi()
}, 60_000)
afterAll(() => testApi?.close())

test('more than 600 invalid requests are each refused as a problem, and nothing is stored', async () => {
  await expectAllRefused(testApi, await readCorpus(testApi))
}, 180_000)
