import type { DownPartners } from '../../domain/offers.ts'
import { createPolled, type Polled } from './polled.ts'

type Deps = {
  readonly read: () => Promise<readonly { readonly partner: keyof DownPartners; readonly since: string }[]>
  readonly onError: (error: unknown) => void
}

/**
 * Milliseconds. A Postgres notification reads at once. If it is lost, a buyer who continues waits for a partner that is
 * down, and can go back.
 */
const EVERY_MS = 10_000

export function createDownPartners({ read, onError }: Deps): Polled<DownPartners> {
  return createPolled<DownPartners>({
    read: async () => Object.fromEntries((await read()).map(({ partner, since }) => [partner, since])),
    initial: {},
    everyMs: EVERY_MS,
    onError,
  })
}
