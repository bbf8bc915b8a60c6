import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { PROBLEMS, type ProblemCode } from './problem-codes.ts'
import { API_HEADERS, PROBLEM_TYPE, Problem, problemText } from './problems.ts'

export type ServerSettings = { readonly publicUrl: string; readonly newRequestId: () => string }

/** What node's parser refuses before there is a request. */
const PARSER_PROBLEMS: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers must have at most 16 KiB together.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['body_too_large', 'The extensions of the chunks must be shorter, or left out.'],
  ERR_HTTP_REQUEST_TIMEOUT: [
    'request_timeout',
    'The headers must be complete within 10 seconds, the whole request within 30.',
  ],
}

/**
 * The HTTP server, not listening yet. A client that sends slowly holds a socket for 10 s (headers) and 30 s (all), where
 * node's own limits are 60 s and 300 s. What the parser refuses is answered with a problem too.
 */
export function createApiServer(app: RequestListener, settings: ServerSettings): Server {
  // Node would answer a request without a host itself, and not with a problem.
  const limits = {
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    // Longer than proxies and clients keep an idle connection (60 s is usual): the side that closes first must be the
    // one that would use it, or a request is now and then sent into a connection that is just being closed.
    keepAliveTimeout: 72_000,
    maxHeaderSize: 16_384,
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
    refuse(new Problem('expectation_failed', 'Only Expect: 100-continue is understood.'), request, response)
  })
  return server
}

function problemAnswer(problem: Problem, { publicUrl, newRequestId, instance }: ServerSettings & { instance: string }) {
  const requestId = newRequestId()
  const body = problemText(problem, { publicUrl, instance, requestId })
  const headers = {
    ...API_HEADERS,
    'request-id': requestId,
    'content-type': `${PROBLEM_TYPE}; charset=utf-8`,
    'content-length': String(Buffer.byteLength(body)),
  }
  return { status: PROBLEMS[problem.code].status, headers, body }
}

/** Whoever still waits for an answer gets one within this time, or asks again (milliseconds). */
const LAST_ANSWERS_MS = 2000

/** Takes no more requests, and ends when the last answer is out. */
export async function stopApiServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeIdleConnections()
  setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS).unref()
  await closed
}
