import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { NativeConnection } from '@temporalio/worker'
import { TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { startDevServer } from '../../scripts/test/services/temporal.ts'
import { readApiConfig, readWorkerConfig } from '../../src/config/config.ts'
import { readTemporal } from '../../src/config/temporal.ts'
import { createDeadlines } from '../../src/temporal/calls.ts'
import { createTemporalClient } from '../../src/temporal/connect.ts'
import { toOutcome } from '../../src/temporal/decisions.ts'
import { makeCertificates, startTlsProxy } from './tls-proxy.ts'

describe('Connections', () => {
  /** The connections of api and worker, by the variables of Temporal’s own tools, to a server behind real TLS. */
  const API_KEY = 'the-api-key-of-this-test'
  const folder = mkdtempSync(join(tmpdir(), 'pinrail-tls-'))
  const certificates = makeCertificates(folder)
  let upstream = ''
  const proxies: Awaited<ReturnType<typeof startTlsProxy>>[] = []
  beforeAll(async () => {
    upstream = (await startDevServer()).address
  }, 60_000)
  afterAll(async () => {
    for (const proxy of proxies) await proxy.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function proxy(options: Pick<Parameters<typeof startTlsProxy>[0], 'mutual' | 'admits'>) {
    const started = await startTlsProxy({ certificates, upstream, ...options })
    proxies.push(started)
    return started
  }

  type Variables = Readonly<Record<string, string>>
  const environment = (variables: Variables) => ({
    ...TEST_ENVIRONMENT,
    DATABASE_URL: 'postgres://127.0.0.1:9/none',
    TREASURY_KEY: `0x${'1'.repeat(64)}`,
    RELAYER_KEYS: `0x${'2'.repeat(64)}`,
    ...variables,
  })

  /** As the api and its relay connect: each call has a deadline. */
  async function asApi(variables: Variables): Promise<void> {
    const temporal = createTemporalClient(readApiConfig(environment(variables)))
    try {
      await temporal.check()
      const listing = temporal.client.workflow.list({ pageSize: 1 })[Symbol.asyncIterator]()
      await temporal.client.connection.withDeadline(Date.now() + 5000, () => listing.next())
    } finally {
      await temporal.close()
    }
  }

  async function asWorker(variables: Variables): Promise<void> {
    const { temporal } = readWorkerConfig(environment(variables))
    const connection = await NativeConnection.connect(temporal.connection)
    await connection.workflowService.describeNamespace({ namespace: temporal.namespace })
    await connection.close()
  }

  /** The error of the connection, with its causes. */
  async function whyNot(use: (variables: Variables) => Promise<void>, variables: Variables): Promise<string> {
    const said: string[] = []
    try {
      await use(variables)
    } catch (error) {
      for (let why: unknown = error; why instanceof Error; why = why.cause) said.push(why.message)
    }
    return said.join(': ')
  }

  /** In the words of either client. The api’s client hides the alert of TLS behind its deadline. */
  const API_SAYS = {
    refused: /^(4 DEADLINE_EXCEEDED|14 UNAVAILABLE): /,
    unverified: /^(4 DEADLINE_EXCEEDED|14 UNAVAILABLE): /,
    unauthenticated: /^16 UNAUTHENTICATED/,
  }
  const WORKER_SAYS = {
    // The alert, or the error of a connection that was ended before it arrived.
    refused: /transport(?: error|::Error)/,
    unverified: /InvalidCertificate|transport(?: error|::Error)/,
    unauthenticated: /does not have valid authentication credentials/,
  }

  describe.each([
    ['the api', asApi, API_SAYS],
    ['the worker', asWorker, WORKER_SAYS],
  ])('%s', (_who, use, says) => {
    test('a connection shows its certificate, and is refused without one and with that of another authority', async () => {
      const { address, seen } = await proxy({ mutual: true })
      const tls = { TEMPORAL_ADDRESS: address, TEMPORAL_TLS_SERVER_CA_CERT_PATH: certificates.path('authority.pem') }
      const pair = (name: string) => ({
        TEMPORAL_TLS_CLIENT_CERT_PATH: certificates.path(`${name}.pem`),
        TEMPORAL_TLS_CLIENT_KEY_PATH: certificates.path(`${name}.key`),
      })
      await use({ ...tls, ...pair('client') })
      const passed = seen.length
      expect(passed).toBeGreaterThan(0)
      // It sends nothing to a server that it cannot verify either.
      const blind = { ...pair('client'), TEMPORAL_ADDRESS: address, TEMPORAL_TLS: 'true' }
      const refused = [tls, { ...tls, ...pair('stranger') }, blind]
      expect(await Promise.all(refused.map((variables) => whyNot(use, variables)))).toEqual([
        expect.stringMatching(says.refused),
        expect.stringMatching(says.refused),
        expect.stringMatching(says.unverified),
      ])
      expect(seen).toHaveLength(passed)
    }, 60_000)

    test('a connection sends an API key, its namespace and its headers with every call, over TLS', async () => {
      const { address, seen } = await proxy({
        mutual: false,
        admits: ({ authorization }) => authorization === `Bearer ${API_KEY}`,
      })
      const cloud = {
        TEMPORAL_ADDRESS: address,
        TEMPORAL_NAMESPACE: 'default',
        TEMPORAL_TLS_SERVER_CA_CERT_PATH: certificates.path('authority.pem'),
        TEMPORAL_GRPC_META_TENANT: 'ada',
      }
      await use({ ...cloud, TEMPORAL_API_KEY: API_KEY })
      expect(seen.length).toBeGreaterThan(0)
      expect(new Set(seen.map(({ tenant }) => tenant))).toEqual(new Set(['ada']))
      await expect(whyNot(use, { ...cloud, TEMPORAL_API_KEY: 'wrong' })).resolves.toMatch(says.unauthenticated)
    }, 60_000)

    test('a connection reads a profile from a file, and the variables override it', async () => {
      const { address } = await proxy({ mutual: true })
      const file = join(folder, `temporal-${address.split(':')[1]}.toml`)
      writeFileSync(
        file,
        `[profile.live]
address = "127.0.0.1:9"
namespace = "default"
[profile.live.tls]
server_ca_cert_path = "${certificates.path('authority.pem')}"
client_cert_path = "${certificates.path('client.pem')}"
client_key_path = "${certificates.path('client.key')}"
`,
      )
      await use({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'live', TEMPORAL_ADDRESS: address })
    }, 60_000)
  })

  describe('A process that does not start', () => {
    const toml = join(folder, 'typing-error.toml')
    writeFileSync(toml, '[profile.default]\nadress = "a"\n')
    test.each<[string, Variables, string]>([
      ['a profile without a file', { TEMPORAL_PROFILE: 'live' }, 'TEMPORAL_PROFILE needs TEMPORAL_CONFIG_FILE'],
      ['a file that is not there', { TEMPORAL_CONFIG_FILE: join(folder, 'none.toml') }, 'ENOENT'],
      ['a typing error in the file', { TEMPORAL_CONFIG_FILE: toml }, 'adress'],
      ['half a pair', { TEMPORAL_TLS_CLIENT_CERT_PATH: certificates.path('client.pem') }, 'must be set together'],
      ['a certificate that is not there', { TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, 'none.pem') }, 'ENOENT'],
      ['an API key without TLS', { TEMPORAL_API_KEY: API_KEY, TEMPORAL_TLS: 'false' }, 'TEMPORAL_API_KEY needs TLS'],
    ])('a process does not start, and gives the reason, for %s', (_what, variables, why) => {
      expect(() => readApiConfig(environment(variables))).toThrow(why)
      expect(() => readWorkerConfig(environment(variables))).toThrow('TEMPORAL_*: must name a server')
    })
  })

  test('only the variables count: no file in a home folder is read', () => {
    const defaults = { connection: { address: '127.0.0.1:7233' }, namespace: 'default' }
    expect(readTemporal({ HOME: folder, XDG_CONFIG_HOME: folder })).toMatchObject(defaults)
  })
})

describe('A connection that is closed', () => {
  const UNAVAILABLE = '14'

  /** A Temporal server that returns its name, and is unavailable for everything else. */
  async function startUnavailable() {
    let asked: () => void = () => undefined
    const wasAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const server = createServer((request, response) => {
      const isGreeting = request.url.endsWith('/GetSystemInfo')
      response.writeHead(200, {
        'content-type': 'application/grpc',
        ...(!isGreeting && { 'grpc-status': UNAVAILABLE }),
      })
      if (!isGreeting) asked()
      if (isGreeting) {
        // One message without a byte.
        response.write(Buffer.alloc(5))
        response.addTrailers({ 'grpc-status': '0' })
      }
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, wasAsked, close: () => server.close() }
  }

  test('a connection that is closed before a call is repeated lets the call end first', async () => {
    const server = await startUnavailable()
    const config = readApiConfig({
      ...TEST_ENVIRONMENT,
      DATABASE_URL: 'postgres://127.0.0.1:9/none',
      TEMPORAL_ADDRESS: server.address,
    })
    const temporal = createTemporalClient(config)
    const within = createDeadlines(temporal.client)
    const call = within(1000, () => temporal.client.workflow.getHandle('pay_1').describe()).then(
      () => 'answered',
      () => 'failed',
    )
    await server.wasAsked
    await temporal.close()
    // If it were closed first, the next try would throw in a timer: no test could catch it, and the call would never
    // end.
    expect(await call).toBe('failed')
    server.close()
  }, 20_000)
})

describe('Decisions over a connection', () => {
  test('a decision that may have been carried out before is not reported as done', () => {
    expect(toOutcome({ status: 'processing', message: 'approve: recorded' })).toEqual({
      kind: 'done',
      status: 'processing',
      message: 'approve: recorded',
    })
    expect(toOutcome({ status: 'processing', message: 'approve: tried before', unsure: true })).toEqual({
      kind: 'unknown',
      message: 'approve: tried before',
    })
  })
})
