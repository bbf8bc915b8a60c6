import type { Response } from 'express'

/**
 * The pages of buyers that are open, and what tells them that their payment has changed. A page gets no news but the
 * stamp of its payment: it asks for what is true by the ways that it has anyway.
 */
export type OpenPages = {
  /**
   * Keeps the answer open and writes the stamp of the payment whenever it becomes another than the page knows. False,
   * and nothing is written, when there are too many: the page asks by itself then.
   */
  readonly follow: (response: Response, page: { readonly paymentId: string; readonly knows: string | null }) => boolean
  /** These payments may have changed; null: nobody can tell which. */
  readonly heard: (paymentIds: readonly string[] | null) => void
  readonly count: () => number
  /** Ends every answer: the browsers come back, to another process. */
  readonly close: () => void
}

export type OpenPagesDeps = {
  /** The stamps of those payments that exist, by their ids. */
  readonly readStamps: (paymentIds: readonly string[]) => Promise<ReadonlyMap<string, string>>
  readonly onError: (error: unknown) => void
  readonly most?: number
  readonly mostOfPayment?: number
}

type Page = { readonly response: Response; stamp: string | null }

const MOST = 20_000
/** More than one person has open; a link that is followed by a crowd keeps room for others. */
const MOST_OF_PAYMENT = 25
/** News that come together are looked up together. */
const TOGETHER_MS = 25
const LOOK_AGAIN_MS = 1000
/** Proxies close a connection on which nothing was said for a minute. */
const QUIET_MS = 20_000
/** Who does not read keeps us from nothing: beyond this the page is given up (bytes). */
const MOST_UNREAD = 16_384
/** Between these a browser comes back, so that not all come in one moment (milliseconds). */
const RETURN_MS = { least: 500, spread: 1500 } as const

export function createOpenPages(deps: OpenPagesDeps): OpenPages {
  const pages = new Map<string, Set<Page>>()
  let open = 0
  const lookUp = createLookUp(deps, { isWanted: (id) => pages.has(id), tell })

  function tell(paymentId: string, stamp: string): void {
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
      // Read after it was put down: a change in between is in the stamp, or is heard of.
      lookUp.ask([paymentId])
      return true
    },
    heard: (paymentIds) => lookUp.ask(paymentIds ?? pages.keys()),
    count: () => open,
    close() {
      lookUp.end()
      clearInterval(pulse)
      for (const some of pages.values()) for (const { response } of some) response.end()
    },
  }
}

/** Reads the stamps of what was asked for meanwhile, one statement at a time, until it has an answer. */
function createLookUp(
  { readStamps, onError }: OpenPagesDeps,
  pages: { readonly isWanted: (id: string) => boolean; readonly tell: (id: string, stamp: string) => void },
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
      for (const [id, stamp] of await readStamps(ids)) pages.tell(id, stamp)
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
