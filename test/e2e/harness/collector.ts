import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A collector of traces that arrive by OTLP over HTTP. */

export type Span = {
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly attributes: Readonly<Record<string, unknown>>
}

type Values = { key: string; value: Record<string, unknown> }[]
type Sent = {
  resourceSpans: {
    resource: { attributes: Values }
    scopeSpans: { spans: (Omit<Span, 'service' | 'attributes'> & { attributes: Values })[] }[]
  }[]
}

export async function startCollector() {
  const spans: Span[] = []
  const take = async (request: IncomingMessage): Promise<void> => {
    const sent = JSON.parse(await text(request)) as Sent
    for (const { resource, scopeSpans } of sent.resourceSpans)
      for (const span of scopeSpans.flatMap((scope) => scope.spans))
        spans.push({
          ...span,
          service: String(getValues(resource.attributes)['service.name']),
          attributes: getValues(span.attributes),
        })
  }
  const server = createServer((request, response) => {
    void take(request).then(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const getValues = (attributes: Values): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
