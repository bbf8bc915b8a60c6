import type { Response } from 'express'

/** A page receives only the stamp of its payment, and then reads the new state from its usual endpoints. */
export type OpenPages = {
  /**
   * Writes the stamp each time it differs from the one that the page knows. Returns false and writes nothing if there
   * are too many pages: the page polls instead.
   */
  readonly follow: (response: Response, page: { readonly paymentId: string; readonly knows: string | null }) => boolean
  /** Reads the stamps of these payments, or of all open ones. */
  readonly refresh: (paymentIds: readonly string[] | null) => void
  readonly count: () => number
  readonly close: () => void
}

export type OpenPagesDeps = {
  readonly readStamps: (paymentIds: readonly string[]) => Promise<ReadonlyMap<string, string>>
  readonly onError: (error: unknown) => void
  readonly most?: number
  readonly mostOfPayment?: number
}

type Page = { readonly response: Response; stamp: string | null }

const MOST = 20_000
/** More pages than one person has open. A link that a crowd follows leaves room for others. */
const MOST_OF_PAYMENT = 25
/** Milliseconds in which changes are collected for one read. */
const TOGETHER_MS = 25
const LOOK_AGAIN_MS = 1000
/** Milliseconds between two pulses: proxies close a connection that is silent for a minute. */
const QUIET_MS = 20_000
/** Unread bytes above which a page is disconnected: a client that does not read must not use up memory. */
const MOST_UNREAD = 16_384
/** Milliseconds. A random time in this range, so that not all browsers reconnect at one moment. */
const RETURN_MS = { least: 500, spread: 1500 } as const

export function createOpenPages(deps: OpenPagesDeps): OpenPages {
  const pages = new Map<string, Set<Page>>()
  let open = 0
  const lookUp = createLookUp(deps, { isWanted: (id) => pages.has(id), sendStamp })

  function sendStamp(paymentId: string, stamp: string): void {
    for (const page of pages.get(paymentId) ?? []) {
      if (page.stamp !== null && page.stamp !== stamp) say(page, `id: ${stamp}\ndata: \n\n`)
      page.stamp = stamp
    }
  }

  function say({ response }: Page, text: string): void {
    response.write(text)
    if (response.writableLength > MOST_UNREAD) response.destroy()
  }

  const pulse = setInterval(() => {
    for (const some of pages.values()) for (const page of some) say(page, ':\n\n')
  }, QUIET_MS)
  pulse.unref()

  return {
    follow(response, { paymentId, knows }) {
      const some = pages.get(paymentId) ?? new Set<Page>()
      const isFull = open >= (deps.most ?? MOST) || some.size >= (deps.mostOfPayment ?? MOST_OF_PAYMENT)
      if (lookUp.isOver() || isFull) return false
      const page: Page = { response, stamp: knows }
      pages.set(paymentId, some.add(page))
      open += 1
      response.once('close', () => {
        open -= 1
        some.delete(page)
        if (some.size === 0 && pages.get(paymentId) === some) pages.delete(paymentId)
      })
      response.set({ 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' })
      response.write(`retry: ${Math.round(RETURN_MS.least + Math.random() * RETURN_MS.spread)}\n\n`)
      // Read after the page was registered: a change in between is in the stamp, or is notified.
      lookUp.ask([paymentId])
      return true
    },
    refresh: (paymentIds) => lookUp.ask(paymentIds ?? pages.keys()),
    count: () => open,
    close() {
      lookUp.end()
      clearInterval(pulse)
      for (const some of pages.values()) for (const { response } of some) response.end()
    },
  }
}

/** One statement at a time. Repeats a failed read. */
function createLookUp(
  { readStamps, onError }: OpenPagesDeps,
  pages: { readonly isWanted: (id: string) => boolean; readonly sendStamp: (id: string, stamp: string) => void },
) {
  const due = new Set<string>()
  let [looking, over] = [false, false]
  let timer: NodeJS.Timeout | undefined

  function lookIn(ms: number): void {
    if (over || looking || due.size === 0) return
    timer ??= setTimeout(() => {
      timer = undefined
      void look()
    }, ms)
    timer.unref()
  }

  async function look(): Promise<void> {
    const ids = [...due].filter(pages.isWanted)
    due.clear()
    if (ids.length === 0) return
    looking = true
    let wait = TOGETHER_MS
    try {
      for (const [id, stamp] of await readStamps(ids)) pages.sendStamp(id, stamp)
    } catch (error) {
      onError(error)
      for (const id of ids) due.add(id)
      wait = LOOK_AGAIN_MS
    } finally {
      looking = false
      lookIn(wait)
    }
  }

  return {
    ask(ids: Iterable<string>) {
      for (const id of ids) if (pages.isWanted(id)) due.add(id)
      lookIn(TOGETHER_MS)
    },
    isOver: () => over,
    end() {
      over = true
      clearTimeout(timer)
    },
  }
}
