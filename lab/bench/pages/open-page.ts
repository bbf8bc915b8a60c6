import { connect, type Socket } from 'node:net'

/**
 * A page that is open, as its script and its browser keep it: one connection on which the server tells of changes. It
 * comes back after as long as the server said, and says which stamp it heard last.
 */
export type OpenPage = {
  readonly paymentId: string
  /** The stamp that it knows. */
  readonly stamp: () => string
  readonly isOpen: () => boolean
  readonly close: () => void
}

export type PageOptions = {
  readonly paymentId: string
  /** The checkout's address. */
  readonly url: string
  /** The stamp with which the page was made. */
  readonly knows: string
  /** An address of this machine to come from. */
  readonly from: string
  readonly heard: (stamp: string) => void
  /** It was refused, for good, as a browser takes any answer but 200. */
  readonly refused: (status: string) => void
}

/** What a browser waits when the server has not said how long (milliseconds). */
const RETURN_MS = 3000

export function openPage(options: PageOptions): OpenPage {
  const { hostname, port, pathname } = new URL(options.url)
  let [stamp, returnMs, isOpen, isOver, said] = [options.knows, RETURN_MS, false, false, '']
  let socket: Socket | undefined
  let timer: NodeJS.Timeout | undefined

  function open(): void {
    const fresh = connect({ host: hostname, port: Number(port), localAddress: options.from })
    socket = fresh
    said = ''
    fresh.setEncoding('utf8')
    fresh.on('connect', () =>
      fresh.write(
        `GET ${pathname}/live HTTP/1.1\r\nhost: ${hostname}:${port}\r\naccept: text/event-stream\r\nlast-event-id: ${stamp}\r\n\r\n`,
      ),
    )
    fresh.on('data', (text: string) => read(text))
    fresh.on('error', () => undefined)
    fresh.on('close', () => {
      isOpen = false
      if (!isOver) timer = setTimeout(open, returnMs)
    })
  }

  function read(text: string): void {
    const status = isOpen ? undefined : /^HTTP\/1\.1 (\d+)/.exec(text)?.[1]
    if (status !== undefined && status !== '200') {
      isOver = true
      options.refused(status)
      socket?.destroy()
      return
    }
    isOpen = true
    said += text
    for (let end = said.indexOf('\n\n'); end !== -1; end = said.indexOf('\n\n')) {
      const block = said.slice(0, end)
      said = said.slice(end + 2)
      returnMs = Number(/^retry: (\d+)$/m.exec(block)?.[1] ?? returnMs)
      const id = /^id: (.+)$/m.exec(block)?.[1]
      if (id === undefined) continue
      stamp = id
      options.heard(id)
    }
  }

  open()
  return {
    paymentId: options.paymentId,
    stamp: () => stamp,
    isOpen: () => isOpen,
    close() {
      isOver = true
      clearTimeout(timer)
      socket?.destroy()
    },
  }
}
