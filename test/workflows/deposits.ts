import { depositAt, sendTo } from '../outcomes/transfers.ts'
import { world } from './story.ts'

/** USDC that buyers send to addresses of payments, on the server that skips time. */

export async function openAddress(body: Record<string, unknown> = {}) {
  const paymentId = await world.createPayment({ provider: undefined, ...body })
  const answer = await world.openAttempt(paymentId, 'crypto', 'usdc')
  if (answer.kind !== 'redirect') throw new Error(`expected a redirect, got ${answer.kind}`)
  return { paymentId, attemptId: answer.attemptId, deposit: await readDeposit(answer.attemptId) }
}

export const readDeposit = (attemptId: string) => depositAt(world, attemptId)

export const send = (attemptId: string, units: string, token?: `0x${string}`) =>
  sendTo(world, attemptId, { units, ...(token !== undefined && { token }) })
