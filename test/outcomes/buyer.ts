import { type ReadPage, readCheckout } from './page.ts'
import type { PlayedWay } from './ways.ts'

/** A buyer at the checkout, over HTTP and without a script: has an address, a country and the cookies. */
export type Buyer = ReturnType<typeof createBuyer>

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36'
type Way = Pick<PlayedWay, 'provider' | 'method'>

export function createBuyer(link: string, country: string) {
  const cookies = new Map([['pinrail_country', country]])
  /** The open page. */
  let at = link

  async function ask(url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const headers = { 'user-agent': BROWSER, cookie, ...(init.headers as Record<string, string>) }
    const answer = await fetch(url, { redirect: 'manual', ...init, headers })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=;]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return answer
  }

  const send = (path: string, fields: Record<string, string>) =>
    ask(`${link}/${path}`, { method: 'POST', body: new URLSearchParams(fields) })

  async function post(path: string, fields: Record<string, string>): Promise<string> {
    const answer = await send(path, fields)
    if (answer.status !== 303)
      throw new Error(`${path} answered ${answer.status}: ${(await answer.text()).slice(0, 300)}`)
    return new URL(answer.headers.get('location') ?? '', link).href
  }

  return {
    link,
    goTo: (url: string) => {
      at = url
    },
    choose: ({ provider, method }: Way) => {
      at = `${link}?method=${provider}.${method}`
    },
    /** Presses Continue, as from a page that was open for a long time. */
    async goOn(way: Way): Promise<void> {
      const pressed = await send('continue', way)
      if (pressed.status === 200) {
        const ways = (await pressed.text()).match(/button fill/g) ?? []
        if (ways.length !== 1) throw new Error(`a hand-off leads to ${ways.length} places`)
      } else if (pressed.status !== 303) throw new Error(`Continue answered ${pressed.status}`)
      at = new URL(pressed.headers.get('location') ?? '', link).href
    },
    setCountry: (code: string) => post('country', { country: code, chosen: '' }),
    /** Presses a button of a test payment's bar. */
    play: (what: string) => post('sandbox', { do: what }),
    /** Comes from the partner's page, by the browser's headers. */
    async comeFrom(url: string): Promise<void> {
      const page = await (await ask(link, { headers: { referer: url } })).text()
      at = new URL(/data-here="([^"]*)"/.exec(page)?.[1] ?? '', link).href
    },
    async look(): Promise<ReadPage> {
      const answer = await ask(at)
      if (answer.status !== 200) throw new Error(`the page answered ${answer.status}`)
      return readCheckout(at, await answer.text())
    },
    /** The response that an open page polls. */
    async status(): Promise<{ status: string; key: string }> {
      const answer = await ask(`${link}/status${new URL(at).search}`)
      return (await answer.json()) as { status: string; key: string }
    },
    /** The receipt's text; null if the checkout leads back to the page. */
    async receipt(): Promise<string | null> {
      const answer = await ask(`${link}/receipt`)
      return answer.status === 200 ? answer.text() : null
    },
    /** Waits for the next stamp of the stream after this one. */
    async hear(knows: string): Promise<string> {
      const stop = new AbortController()
      const answer = await ask(`${link}/live`, { headers: { 'last-event-id': knows }, signal: stop.signal })
      let said = ''
      try {
        for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
          said += Buffer.from(chunk).toString()
          const stamp = /^id: (.*)$/m.exec(said)?.[1]
          if (stamp !== undefined) return stamp
        }
      } finally {
        stop.abort()
      }
      throw new Error('the stream ended without a message')
    },
  }
}
