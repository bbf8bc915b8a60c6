import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createTimeouts, SERVER_TIMEOUTS, type ServerTimeouts } from '../../runtime/server-timeouts.ts'
import { answerHeaders } from '../../web/page-headers.ts'
import { PROBLEMS, type ProblemCode } from './problem-codes.ts'
import { PROBLEM_TYPE, Problem, problemText } from './problems.ts'

export type ServerSettings = {
  readonly publicUrl: string
  readonly hstsIncludeSubdomains?: boolean
  readonly newRequestId: () => string
  readonly patience?: ServerTimeouts
}

/** Errors of Node's HTTP parser, which occur before Express sees a request. */
const PARSER_PROBLEMS: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers must have at most 16 KiB together.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['body_too_large', 'The chunk extensions must be shorter or absent.'],
  ERR_HTTP_REQUEST_TIMEOUT: [
    'request_timeout',
    'The headers must be complete within 10 seconds, the whole request within 30.',
  ],
}

/**
 * Does not listen yet. Disconnects slow clients after 10 s (headers) and 30 s (whole request) instead of Node's 60 s
 * and 300 s. Requests that the parser rejects get a problem too.
 */
export function createApiServer(app: RequestListener, settings: ServerSettings): Server {
  const limits = {
    ...createTimeouts(settings.patience ?? SERVER_TIMEOUTS),
    // Longer than proxies and clients keep an idle connection (usually 60 s), so that they close it first. Otherwise a
    // request would sometimes be sent into a connection that the server is closing.
    keepAliveTimeout: 72_000,
    maxHeaderSize: 16_384,
    // Node would answer a request without a host itself, but not with a problem.
    requireHostHeader: false,
  }
  const refuse = (problem: Problem, request: IncomingMessage, response: ServerResponse): void => {
    const instance = (request.url ?? '/').split('?')[0] ?? '/'
    const { status, headers, body } = problemAnswer(problem, { ...settings, instance })
    response.writeHead(status, { ...headers, connection: 'close' }).end(body)
  }
  const server = createServer(limits, (request, response) => {
    if (request.headers.host !== undefined || request.httpVersion === '1.0') app(request, response)
    else refuse(new Problem('invalid_request', 'The request must have a Host header.'), request, response)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const [code, detail] = PARSER_PROBLEMS[error.code ?? ''] ?? ['invalid_request', 'The request must be valid HTTP.']
    const { status, headers, body } = problemAnswer(new Problem(code, detail), { ...settings, instance: '/' })
    const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
    socket.end(`HTTP/1.1 ${status} ${PROBLEMS[code].title}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
  })
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    refuse(
      new Problem('expectation_failed', 'Only Expect: 100-continue is supported. Omit the header.'),
      request,
      response,
    )
  })
  return server
}

function problemAnswer(problem: Problem, settings: ServerSettings & { instance: string }) {
  const { publicUrl, hstsIncludeSubdomains = false, newRequestId, instance } = settings
  const requestId = newRequestId()
  const body = problemText(problem, { publicUrl, instance, requestId })
  const headers = {
    ...answerHeaders({ publicUrl, hstsIncludeSubdomains }),
    'request-id': requestId,
    'content-type': `${PROBLEM_TYPE}; charset=utf-8`,
    'content-length': String(Buffer.byteLength(body)),
  }
  return { status: PROBLEMS[problem.code].status, headers, body }
}

const IDLE_MS = 50

/** Most milliseconds that idle connections stay open during a stop, and their largest share of `drainMs`. */
const LINGER_MS = 1000
const LINGER_PART = 0.1

/**
 * Requests in progress have `drainMs` to finish: an update that a buyer waits for must be answered, because its payment
 * would show an error and continue. A client may be sending into a connection that is idle here: it is still answered
 * for `lingerMs`, with `connection: close`.
 */
export async function stopApiServer(
  server: Server,
  drainMs: number,
  lingerMs: number = Math.min(LINGER_MS, drainMs * LINGER_PART),
): Promise<void> {
  server.prependListener('request', (_request, response) => void response.setHeader('connection', 'close'))
  // Closes only the listener. The HTTP server's own close would first disconnect idle connections.
  const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve))
  const forced = setTimeout(() => server.closeAllConnections(), drainMs)
  await Promise.race([closed, delay(lingerMs)])
  server.closeIdleConnections()
  // Node keeps a connection that becomes idle after its response.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_MS)
  await closed
  clearInterval(idle)
  clearTimeout(forced)
}
