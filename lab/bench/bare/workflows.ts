import {
  allHandlersFinished,
  CancellationScope,
  condition,
  defineSignal,
  defineUpdate,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
} from '@temporalio/workflow'
import { PAYMENT_STATUS } from '../../../src/workflows/search-attributes.ts'
import type { BareActivities } from './activities.ts'

/** Two floors: the cost of a payment of this shape for Temporal if its activities do nothing. */

export const open = defineUpdate<string, []>('open')
export const orderChanged = defineSignal('orderChanged')

const quick = proxyActivities<BareActivities>({ startToCloseTimeout: '30 s' })
const local = proxyLocalActivities<BareActivities>({ startToCloseTimeout: '30 s' })
const waiting = proxyActivities<BareActivities>({ startToCloseTimeout: '60 s', activityId: 'transfer' })

const DAY_MS = 86_400_000

/**
 * One update with its activity, one signal, five activities of which one completes asynchronously, three upserts, one
 * timer; then a delivery.
 */
export async function bare(id: string): Promise<string> {
  let opening: 'no' | 'asked' | 'done' = 'no'
  let hasChanged = false
  let status = ''
  setHandler(open, async () => {
    opening = 'asked'
    await condition(() => opening === 'done')
    return status
  })
  setHandler(orderChanged, () => {
    hasChanged = true
  })
  const expiry = new CancellationScope()
  void expiry.run(() => sleep(DAY_MS)).catch(ignoreCancellation)

  await condition(() => opening === 'asked')
  status = await quick.openOrder(id)
  opening = 'done'
  show('pending')
  await condition(() => hasChanged)
  await quick.readOrder(id)
  await quick.convert(id)
  show('settling')
  await waiting.transfer(id)
  show('succeeded')
  await quick.announce(id)
  expiry.cancel()
  await condition(allHandlersFinished)
  return status
}

/**
 * The fewest tasks for the same messages: the order is opened within the task of its update and read within that of the
 * signal, one activity completes asynchronously, and the task after it announces the end. One upsert, one timer.
 */
export async function lean(id: string): Promise<string> {
  let hasChanged = false
  let status = ''
  setHandler(open, async () => {
    status = await local.openOrder(id)
    return status
  })
  setHandler(orderChanged, () => {
    hasChanged = true
  })
  const expiry = new CancellationScope()
  void expiry.run(() => sleep(DAY_MS)).catch(ignoreCancellation)

  await condition(() => hasChanged)
  await local.readOrder(id)
  show('settling')
  await waiting.transfer(id)
  setCurrentDetails('### succeeded')
  await local.deliver(id)
  expiry.cancel()
  await condition(allHandlersFinished)
  return status
}

export async function bareDelivery(id: string): Promise<string> {
  return quick.deliver(id)
}

function show(status: string): void {
  setCurrentDetails(`### ${status}`)
  upsertSearchAttributes([{ key: PAYMENT_STATUS, value: status }])
}

function ignoreCancellation(error: unknown): void {
  if (!isCancellation(error)) throw error
}
