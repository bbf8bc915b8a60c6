import type { Request, Response, Router } from 'express'

/** Maximum number of open pages; a new one closes the oldest. */
const MAX_PAGES = 20

export type Live = {
  /** The pages' stream of server-sent events, each without content: a page then loads the new entries. */
  readonly watch: (request: Request, response: Response) => void
  readonly notify: () => void
}

export function createLive(): Live {
  const pages = new Set<Response>()
  return {
    watch: (_request, response) => {
      const [oldest] = pages
      if (pages.size === MAX_PAGES) oldest?.end()
      pages.add(response)
      response.on('close', () => pages.delete(response))
      response.set({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      response.flushHeaders()
    },
    notify: () => {
      for (const page of pages) page.write('data:\n\n')
    },
  }
}

export const LIVE_SCRIPT_PATH = '/inbox.js'

/** Adds new entries on top, and leaves the others as they are: open details stay open, and the page does not jump. */
export const LIVE_SCRIPT = `
const list = document.querySelector('[data-live]')
const count = document.querySelector('[data-count]')
const look = async () => {
  const answer = await fetch(location.href)
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  for (const item of [...fresh.querySelectorAll('[data-live] > li')].reverse())
    if (!document.getElementById(item.id)) list.prepend(document.adoptNode(item))
  count.textContent = fresh.querySelector('[data-count]').textContent
}
const stream = new EventSource(list.dataset.live)
stream.onopen = look
stream.onmessage = look
`

/** Allows only the page's own script and stream. */
const LIVE_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'"

/**
 * Adds the routes of received entries: `list` for programs, after all entries are on disk, and `page`, which updates live.
 */
export function showLive(
  router: Router,
  live: Live,
  shown: {
    readonly list: `/${string}`
    readonly page: `/${string}`
    readonly all: readonly object[]
    readonly settled: () => Promise<void>
    readonly render: () => string
  },
): void {
  router.get(shown.list, async (_request: Request, response: Response) => {
    await shown.settled()
    response.json(shown.all)
  })
  router.get(shown.page, (_request: Request, response: Response) => {
    response.set('content-security-policy', LIVE_POLICY)
    response.type('html').send(shown.render())
  })
  router.get(`${shown.list}/live`, live.watch)
}
