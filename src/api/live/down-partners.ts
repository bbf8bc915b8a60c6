import type { DownPartners } from '../../domain/offers.ts'

/** The partners that are down, as this process last read them: no request waits for the read. */

type Deps = {
  readonly read: () => Promise<readonly { readonly partner: keyof DownPartners; readonly since: string }[]>
  readonly onError: (error: unknown) => void
}

/**
 * Milliseconds between two reads. A Postgres notification starts one at once. If it is lost, a buyer who continues
 * waits for a partner that is down, and can go back.
 */
const EVERY_MS = 10_000

export type DownPartnersOfProcess = {
  readonly now: () => DownPartners
  /** Reads the partners that are down: every ten seconds, and when a notification arrives. */
  readonly look: () => Promise<void>
  readonly close: () => void
}

export function createDownPartners({ read, onError }: Deps): DownPartnersOfProcess {
  let down: DownPartners = {}
  let reading = false
  const look = async (): Promise<void> => {
    if (reading) return
    reading = true
    try {
      down = Object.fromEntries((await read()).map(({ partner, since }) => [partner, since]))
    } catch (error) {
      onError(error)
    } finally {
      reading = false
    }
  }
  void look()
  const timer = setInterval(() => void look(), EVERY_MS)
  timer.unref()
  return { now: () => down, look, close: () => clearInterval(timer) }
}
