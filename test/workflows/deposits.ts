import { depositAt, sendTo } from '../outcomes/transfers.ts'
import { fixture } from './story.ts'

/** USDC that buyers send to addresses of payments, on the server that skips time. */

export async function openAddress(body: Record<string, unknown> = {}) {
  const paymentId = await fixture.createPayment({ provider: undefined, ...body })
  const answer = await fixture.openAttempt(paymentId, 'crypto', 'usdc')
  if (answer.kind !== 'redirect') throw new Error(`expected a redirect, got ${answer.kind}`)
  return { paymentId, attemptId: answer.attemptId, deposit: await readDeposit(answer.attemptId) }
}

export const readDeposit = (attemptId: string) => depositAt(fixture, attemptId)

export const send = (attemptId: string, units: string, token?: `0x${string}`) =>
  sendTo(fixture, attemptId, { units, ...(token !== undefined && { token }) })
