import { formatUsdc } from '../money.ts'
import type { Standing, Trouble } from './standing.ts'
import { ageText, findTroubles, isStopped, payoutsText } from './troubles.ts'

export type Answer = {
  readonly text: string
  readonly moving: 'yes' | 'partly' | 'no' | 'nothing_to_do'
  readonly troubles: readonly Trouble[]
}

/** A payout takes some seconds; a longer wait needs an explanation. */
const LONG_SECONDS = 600

export function summarizeStanding(standing: Standing): Answer {
  const found = findTroubles(standing)
  const troubles = [...found, ...findUnexplained(standing, found)].toSorted((a, b) => Number(b.stops) - Number(a.stops))
  const [first] = troubles
  const waits = sumPayouts(standing.queue.filter((entry) => !isStopped(entry)))
  const settled = standing.settled.count === 0 ? '' : `${standing.settled.count} settled in the last ten minutes`
  if (waits.count === 0)
    return first === undefined
      ? { text: `Nothing to do: every payout has ended${lastOne(standing)}.`, moving: 'nothing_to_do', troubles }
      : {
          text: `${describeRest(standing, settled)}, but look at this: ${first.what}.`,
          moving: 'nothing_to_do',
          troubles,
        }
  if (first?.stops === true) return { text: `No money is moving: ${first.what}.`, moving: 'no', troubles }
  const going = `${settled === '' ? '' : `${settled}, `}${waits.text} open`
  if (first === undefined) return { text: `Money is moving: ${going}.`, moving: 'yes', troubles }
  return { text: `Money is moving (${going}), but ${first.what}.`, moving: 'partly', troubles }
}

/** Payouts that wait for an operator do not delay other payouts. */
function describeRest({ queue }: Standing, settled: string): string {
  if (queue.length === 0) return 'Nothing waits to be paid'
  return `No other payout waits to be paid${settled === '' ? '' : ` (${settled})`}`
}

/** Reports a payout that has waited for long while nothing settled, if no other check has found the reason. */
function findUnexplained({ queue, settled }: Standing, found: readonly Trouble[]): Trouble[] {
  const oldest = Math.max(0, ...queue.filter(({ state }) => state !== 'stopped').map((entry) => entry.oldestSeconds))
  if (oldest < LONG_SECONDS || settled.count > 0 || found.some(({ stops }) => stops)) return []
  return [
    {
      kind: 'unexplained',
      stops: true,
      what: `the oldest payout has waited for ${ageText(oldest)} and nothing has settled since, for an unknown reason`,
      todo: 'Run `pinrail doctor`, and read the worker’s log.',
    },
  ]
}

function sumPayouts(queue: Standing['queue']): { count: number; text: string } {
  const count = queue.reduce((sum, entry) => sum + entry.count, 0)
  const micro = queue.reduce((sum, entry) => sum + BigInt(entry.micro), 0n)
  return { count, text: `${payoutsText(count)} of ${formatUsdc(String(micro))} USDC` }
}

const lastOne = ({ settled: { secondsAgo } }: Standing): string =>
  secondsAgo === null ? '' : `, the last one ${ageText(secondsAgo)} ago`
