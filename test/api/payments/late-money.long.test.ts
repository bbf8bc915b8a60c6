import { expect, test } from '@jest/globals'
import { until } from '../../../scripts/test/until.ts'
import { attempts, fixture, open, payment, untilStatus, useFixture } from '../../workflows/story.ts'

useFixture()

const DAY = 86_400

async function skipTime(id: string, seconds: number): Promise<void> {
  const answer = await fetch(`${fixture.api}/v1/test/payments/${id}/skip_time`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fixture.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ seconds }),
  })
  expect(answer.status).toBe(202)
}

test('skipping time of a test payment ends the wait for late money', async () => {
  const id = await fixture.createPayment()
  const attemptId = await open(id)
  // It is unknown if the order can still be paid.
  await fixture.faultAt('wallet_app', { fault: 'server_error', attemptId })
  await skipTime(id, DAY)
  await untilStatus(id, 'expired')
  expect((await payment(id)).listenEnded).toBe(false)
  await skipTime(id, DAY)
  await until(
    () => payment(id),
    ({ listenEnded }) => listenEnded,
  )
  expect(await attempts(id)).toHaveLength(1)
})
