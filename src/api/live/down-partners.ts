import type { DownPartners } from '../../domain/offers.ts'

/** No request waits for the read. */

type Deps = {
  readonly read: () => Promise<readonly { readonly partner: keyof DownPartners; readonly since: string }[]>
  readonly onError: (error: unknown) => void
}

/**
 * Milliseconds. A Postgres notification reads at once. If it is lost, a buyer who continues waits for a partner that is
 * down, and can go back.
 */
const EVERY_MS = 10_000

export type DownPartnersOfProcess = {
  readonly now: () => DownPartners
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
