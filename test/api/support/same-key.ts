import { expect } from '@jest/globals'
import type { TestApi } from './test-api.ts'

/** Sends waves of 20 keys, each in 20 requests at once. Returns the different responses. */
export async function collectAnswers(testApi: TestApi, { waves }: { waves: number }): Promise<ReadonlySet<string>> {
  const answers = new Set<string>()
  for (let wave = 0; wave < waves; wave++) {
    const keys = Array.from({ length: 20 }, (_key, nth) => `key-${wave}-${nth}`)
    const texts = await Promise.all(
      keys.flatMap((key) => Array.from({ length: 20 }, () => createPayment(testApi, key))),
    )
    for (const text of texts) answers.add(text)
  }
  return answers
}

/** Repeats the request after 409 and 503, as the response asks. */
async function createPayment(testApi: TestApi, key: string): Promise<string> {
  const body = { amount: '49.99', currency: 'EUR', reference: 'A-1' }
  for (let tries = 0; tries < 20; tries++) {
    const answer = await testApi.ask('POST', '/v1/payments', { body, headers: { 'idempotency-key': key } })
    if (answer.status === 201) return answer.text
    expect([409, 503]).toContain(answer.status)
    expect(answer.headers.get('retry-after')).not.toBeNull()
  }
  throw new Error(`no answer for ${key}`)
}
