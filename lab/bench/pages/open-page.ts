import { connect, type Socket } from 'node:net'

/**
 * An open page, as its script and its browser keep it: one connection on which the server notifies of changes. It
 * returns after the time that the server gave, and sends the stamp that it received last.
 */
export type OpenPage = {
  readonly paymentId: string
  /** The stamp that it received last. */
  readonly stamp: () => string
  readonly isOpen: () => boolean
  readonly close: () => void
}

export type PageOptions = {
  readonly paymentId: string
  readonly url: string
  /** The stamp with which the page was made. */
  readonly knows: string
  /** An address of this machine to connect from. */
  readonly from: string
  readonly onStamp: (stamp: string) => void
  /** Called if it was refused forever, as a browser takes any status but 200. */
  readonly refused: (status: string) => void
}

/** Milliseconds that a browser waits if the server has given no time. */
const RETURN_MS = 3000

export function openPage(options: PageOptions): OpenPage {
  const { hostname, port, pathname } = new URL(options.url)
  let [stamp, returnMs, isOpen, isOver, received] = [options.knows, RETURN_MS, false, false, '']
  let socket: Socket | undefined
  let timer: NodeJS.Timeout | undefined

  function open(): void {
    const fresh = connect({ host: hostname, port: Number(port), localAddress: options.from })
    socket = fresh
    received = ''
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
    received += text
    for (let end = received.indexOf('\n\n'); end !== -1; end = received.indexOf('\n\n')) {
      const block = received.slice(0, end)
      received = received.slice(end + 2)
      returnMs = Number(/^retry: (\d+)$/m.exec(block)?.[1] ?? returnMs)
      const id = /^id: (.+)$/m.exec(block)?.[1]
      if (id === undefined) continue
      stamp = id
      options.onStamp(id)
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
