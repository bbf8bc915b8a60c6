import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createSecureServer, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/** Certificates of one authority: for the server, for a client, and for a client of another authority. */
export function makeCertificates(folder: string) {
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  const request = ['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const authority = (name: string): void =>
    openssl(...request, '-x509', '-days', '2', '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.pem`)
  const signed = (name: string, by: string): void => {
    openssl(...request, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`)
    const signing = ['-CA', `${by}.pem`, '-CAkey', `${by}.key`, '-CAcreateserial', '-days', '2', '-extfile', 'names']
    openssl('x509', '-req', '-in', `${name}.csr`, ...signing, '-out', `${name}.pem`)
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:temporal.pinrail.example,IP:127.0.0.1\n')
  authority('authority')
  authority('other-authority')
  signed('server', 'authority')
  signed('client', 'authority')
  signed('stranger', 'other-authority')
  return {
    path: (name: string): string => join(folder, name),
    read: (name: string) => readFileSync(join(folder, name)),
  }
}

export type ProxyOptions = {
  readonly certificates: ReturnType<typeof makeCertificates>
  /** `host:port` of a Temporal server without TLS. */
  readonly upstream: string
  /** True if clients must have a certificate. */
  readonly mutual: boolean
  /** True if a call is passed on; otherwise it is unauthenticated. */
  readonly admits?: (headers: IncomingHttpHeaders) => boolean
}

/**
 * A proxy like one before a Temporal cluster in production: ends TLS, requires certificates or an API key, and passes
 * the calls on. The calls that it has passed on are in `seen`.
 */
export async function startTlsProxy({ certificates, upstream, mutual, admits = () => true }: ProxyOptions) {
  const seen: IncomingHttpHeaders[] = []
  const server = createSecureServer({
    key: certificates.read('server.key'),
    cert: certificates.read('server.pem'),
    ...(mutual && { ca: certificates.read('authority.pem'), requestCert: true, rejectUnauthorized: true }),
  })
  const session = connect(`http://${upstream}`)
  server.on('sessionError', () => undefined)
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    if (!admits(headers)) {
      const refusal = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' }
      stream.respond(refusal, { endStream: true })
      return
    }
    seen.push(headers)
    const { ':scheme': _scheme, ':authority': _authority, ...rest } = headers
    const call = session.request({ ...rest, ':scheme': 'http', ':authority': upstream })
    let trailers: IncomingHttpHeaders = {}
    call.on('error', () => stream.close())
    call.on('response', ({ ...answer }, flags) => {
      // 1: END_STREAM, a response of headers alone.
      if (!stream.closed) stream.respond(answer, (flags & 1) === 1 ? { endStream: true } : { waitForTrailers: true })
    })
    call.on('trailers', (received) => (trailers = received))
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.on('close', () => call.close())
    stream.pipe(call).pipe(stream)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async stop(): Promise<void> {
      session.destroy()
      server.close()
    },
  }
}
