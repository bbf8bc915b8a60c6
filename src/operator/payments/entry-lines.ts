import { z } from 'zod'
import type { TimelineEntry } from '../../db/payments/timeline.ts'

/** Names, reasons and proofs, which no merchant sees. */

const context = z.object({ operator: z.string(), reason: z.string().optional(), proof: z.string().optional() })
const transfer = z.object({ units: z.string(), token: z.string(), sender: z.string(), tx_hash: z.string() })

/** Null if no operator made the entry. */
export const readContext = (entry: Pick<TimelineEntry, 'data'> | undefined): z.output<typeof context> | null =>
  context.safeParse(entry?.data).data ?? null

export function describeEntry({
  at,
  message,
  actor,
  data,
}: Pick<TimelineEntry, 'at' | 'message' | 'actor' | 'data'>): string {
  return `${at}  ${message}${describeTransfer(data)}${describeActor(actor, readContext({ data }))}`
}

function describeActor(actor: string, by: z.output<typeof context> | null): string {
  if (by === null) return actor === 'system' ? '' : ` (${actor})`
  const reason = by.reason === undefined ? '' : `: ${by.reason}`
  return ` (by ${by.operator}${reason}${by.proof === undefined ? '' : `; proof: ${by.proof}`})`
}

function describeTransfer(data: TimelineEntry['data']): string {
  const found = transfer.safeParse(data).data
  if (found === undefined) return ''
  return `: ${found.units} units of ${found.token} from ${found.sender} in ${found.tx_hash}`
}
