import { z } from 'zod'
import type { TimelineEntry } from '../../db/payments/timeline.ts'

/** Formats timeline entries for operators: with names, reasons and proofs, which no merchant sees. */

const office = z.object({ operator: z.string(), reason: z.string().optional(), proof: z.string().optional() })
const transfer = z.object({ units: z.string(), token: z.string(), sender: z.string(), tx_hash: z.string() })

/** Reads the operator and the reason of an entry. Null if no operator made it. */
export const readOffice = (entry: Pick<TimelineEntry, 'data'> | undefined): z.output<typeof office> | null =>
  office.safeParse(entry?.data).data ?? null

export function describeEntry({
  at,
  message,
  actor,
  data,
}: Pick<TimelineEntry, 'at' | 'message' | 'actor' | 'data'>): string {
  return `${at}  ${message}${describeTransfer(data)}${describeActor(actor, readOffice({ data }))}`
}

function describeActor(actor: string, by: z.output<typeof office> | null): string {
  if (by === null) return actor === 'system' ? '' : ` (${actor})`
  const reason = by.reason === undefined ? '' : `: ${by.reason}`
  return ` (by ${by.operator}${reason}${by.proof === undefined ? '' : `; proof: ${by.proof}`})`
}

/** Describes a transfer to an address of the platform, with its sender. */
function describeTransfer(data: TimelineEntry['data']): string {
  const found = transfer.safeParse(data).data
  if (found === undefined) return ''
  return `: ${found.units} units of ${found.token} from ${found.sender} in ${found.tx_hash}`
}
