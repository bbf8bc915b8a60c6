import type { Tenant } from '../../db/db.ts'

/** Requests that wait for the next event of their account: a long poll of `GET /v1/events`. */
export type EventWaits = {
  /**
   * Resolves when the account has an event after this sequence number, or the milliseconds are over, or the process ends.
   * Resolves at once to false if too many requests of the account or of the process wait.
   */
  readonly wait: (tenant: Tenant, until: { readonly after: number; readonly ms: number }) => Promise<boolean>
  /** Reads soon whether there are new events. */
  readonly refresh: () => void
  readonly close: () => void
}

export type EventWaitsDeps = {
  /** The sequence number of the last event of each account. */
  readonly readLast: (tenants: readonly Tenant[]) => Promise<readonly (Tenant & { readonly last: number })[]>
  readonly onError: (error: unknown) => void
  readonly most?: number
  readonly mostOfAccount?: number
}

type Waiting = { readonly tenant: Tenant; readonly after: number; readonly end: () => void }

const MOST = 1000
const MOST_OF_ACCOUNT = 10
/** Milliseconds between two reads, one for all accounts that wait. A notice about a payment is read sooner. */
const LOOK_MS = 1000
const TOGETHER_MS = 50

const toKey = ({ merchantId, livemode }: Tenant): string => `${livemode} ${merchantId}`

export function createEventWaits(deps: EventWaitsDeps): EventWaits {
  const waiting = new Set<Waiting>()
  let timer: NodeJS.Timeout | undefined
  let lookAt = Number.POSITIVE_INFINITY
  let [looking, over] = [false, false]

  function lookIn(ms: number): void {
    const at = performance.now() + ms
    if (looking || waiting.size === 0 || lookAt <= at) return
    clearTimeout(timer)
    lookAt = at
    timer = setTimeout(() => void look(), ms)
    timer.unref()
  }

  async function look(): Promise<void> {
    looking = true
    lookAt = Number.POSITIVE_INFINITY
    try {
      const tenants = new Map([...waiting].map(({ tenant }) => [toKey(tenant), tenant]))
      const last = new Map((await deps.readLast([...tenants.values()])).map((row) => [toKey(row), row.last]))
      for (const { tenant, after, end } of waiting) if ((last.get(toKey(tenant)) ?? 0) > after) end()
    } catch (error) {
      deps.onError(error)
    } finally {
      looking = false
      lookIn(LOOK_MS)
    }
  }

  return {
    wait(tenant, { after, ms }) {
      const own = [...waiting].filter((other) => toKey(other.tenant) === toKey(tenant)).length
      const isFull = waiting.size >= (deps.most ?? MOST) || own >= (deps.mostOfAccount ?? MOST_OF_ACCOUNT)
      if (over || isFull) return Promise.resolve(false)
      return new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(deadline)
          waiting.delete(request)
          resolve(true)
        }
        const deadline = setTimeout(end, ms)
        const request = { tenant, after, end }
        waiting.add(request)
        lookIn(0)
      })
    },
    refresh: () => lookIn(TOGETHER_MS),
    close() {
      over = true
      clearTimeout(timer)
      for (const { end } of waiting) end()
    },
  }
}
