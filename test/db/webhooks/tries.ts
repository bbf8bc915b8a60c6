import { recordTries, type TryRecord } from '../../../src/db/webhooks/deliveries.ts'
import { addEndpoint, addEvent, addMerchant, type Seeded } from '../../webhooks/seed.ts'

/** Deliveries of one moment, and their tries. */

export const T0 = '2026-11-20T21:00:00.000Z'
export const after = (seconds: number): string => new Date(Date.parse(T0) + seconds * 1000).toISOString()
export const HOUR = 3600
export const DAY = 24 * HOUR

type Outcome = Partial<TryRecord> & { number?: number }

/** A try that failed a second after the event, with these differences. */
export function attempt(eventId: string, endpointId: string, outcome: Outcome = {}): TryRecord {
  const number = outcome.number ?? 1
  const base = { eventId, endpointId, number, step: number, verdict: 'failed', at: after(1), durationMs: 12 } as const
  return { ...base, status: 500, headers: { server: 'nginx' }, bodyExcerpt: 'oops', error: null, ...outcome }
}

export async function pendingDelivery({ db }: Seeded) {
  const tenant = await addMerchant(db)
  const endpoint = await addEndpoint(db, tenant)
  const eventId = (await addEvent(db, tenant, { at: T0 }))!
  return { db, tenant, endpointId: endpoint.id, eventId }
}

export const recordTry = async ({ db }: Seeded, made: TryRecord) => (await recordTries(db, [made])).get(made.endpointId)
