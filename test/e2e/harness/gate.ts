import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/**
 * An HTTP proxy that can hold a call: before it reaches the server, or after the server has answered. A process that is
 * killed while its call is held dies at exactly that point, without any sleeping.
 */
export type Gate = {
  readonly url: string
  /** The target of calls; those that arrive before it is known wait for it. */
  readonly to: (upstream: string) => void
  /** Holds every call whose method, path, headers and body contain the text, until `release`. */
  readonly hold: (which: HeldCalls) => Hold
  /** As if its process had been killed: every connection breaks, and none is accepted until `revive`. */
  readonly kill: () => Promise<void>
  readonly revive: () => Promise<void>
  readonly close: () => Promise<void>
}

export type HeldCalls = {
  /**
   * `request`: the server never receives it while it is held; `answer`: it has happened, but the caller does not know.
   */
  readonly at: 'request' | 'answer'
  readonly containing: readonly string[]
}

export type Hold = {
  /** Resolves when a call is held. */
  readonly reached: Promise<void>
  /** Releases the calls. A call whose caller has ended is dropped. */
  readonly release: () => void
}

type Rule = HeldCalls & { readonly reach: () => void; readonly released: Promise<void> }

export async function openGate(): Promise<Gate> {
  const rules = new Set<Rule>()
  const upstream = promised<string>()

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming)
    const text = `${incoming.method} ${incoming.url}\n${JSON.stringify(incoming.headers)}\n${body.toString()}`
    const rule = [...rules].find(({ containing }) => containing.every((part) => text.includes(part)))
    if (rule?.at === 'request' && !(await outlives(rule, outgoing))) return
    const answer = await forward({ to: await upstream.promise, incoming, body })
    if (rule?.at === 'answer' && !(await outlives(rule, outgoing))) return
    outgoing.writeHead(answer.status, answer.headers).end(answer.body)
  }

  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy())
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    to: upstream.resolve,
    hold(which) {
      const reached = promised<void>()
      const released = promised<void>()
      const rule = { ...which, reach: reached.resolve, released: released.promise }
      rules.add(rule)
      return {
        reached: reached.promise,
        release: () => {
          rules.delete(rule)
          released.resolve()
        },
      }
    },
    kill: close,
    revive: () => listen(port),
    close,
  }
}

/** A promise and its resolver. */
function promised<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((keep) => {
    resolve = keep
  })
  return { promise, resolve }
}

/** Waits for the release; false if the caller has ended by then. */
async function outlives(rule: Rule, outgoing: ServerResponse): Promise<boolean> {
  rule.reach()
  await rule.released
  return !outgoing.destroyed
}

type Answer = { status: number; headers: IncomingMessage['headers']; body: Buffer }

function forward(call: { to: string; incoming: IncomingMessage; body: Buffer }): Promise<Answer> {
  const { method, url = '/', headers } = call.incoming
  const { host: _host, connection: _connection, ...passed } = headers
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(url, call.to), { method, headers: passed }, (response) => {
      buffer(response).then(
        (body) => resolve({ status: response.statusCode ?? 502, headers: response.headers, body }),
        reject,
      )
    })
    outgoing.on('error', reject)
    outgoing.end(call.body)
  })
}
