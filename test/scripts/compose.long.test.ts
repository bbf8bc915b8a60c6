import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { createEnvironments, DEMO_EMAIL, deriveAddress } from '../../scripts/system/environment.ts'
import { DEFAULT_PORTS } from '../../scripts/system/ports.ts'
import { generateSecrets } from '../../scripts/system/secrets.ts'
import {
  KNOWN_VARIABLES,
  readApiConfig,
  readInboxConfig,
  readSandboxConfig,
  readWorkerConfig,
} from '../../src/config/config.ts'
import { PROVIDER_NAMES } from '../../src/domain/methods.ts'
import { UPDATE_DEADLINE_MS } from '../../src/temporal/calls.ts'
import { SEARCH_ATTRIBUTES } from '../../src/temporal/namespace.ts'
import { SHUTDOWN_FORCE_MS } from '../../src/worker/worker.ts'
import { compose, getEnvironment } from './compose-file.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const services = Object.entries(compose.services)
const ours = services.filter(([, service]) => service.build !== undefined)
const parseMilliseconds = (text = '10s'): number => Number.parseInt(text, 10) * (text.endsWith('m') ? 60_000 : 1000)

describe('docker-compose.yml', () => {
  test('docker-compose.yml sets only variables that the configuration knows', () => {
    const unknown = ours.flatMap(([name, { environment }]) =>
      Object.keys(environment ?? {})
        .filter((key) => !KNOWN_VARIABLES.has(key))
        .map((key) => `${name}: ${key}`),
    )
    expect(unknown).toEqual([])
  })

  test('docker-compose.yml sets for each process every variable that it refuses to start without', () => {
    expect(readApiConfig(getEnvironment('api')).API_HOST).toBe('0.0.0.0')
    const urls = readWorkerConfig(getEnvironment('worker')).POLYGON_RPC_URLS
    expect(urls.map((url) => url.reveal())).toEqual(['http://anvil:8545'])
    expect(readWorkerConfig(getEnvironment('prepare')).CHAIN_ID).toBe(31_337)
    expect(readSandboxConfig(getEnvironment('sandbox')).SANDBOX_CALLBACK_URL).toBe('http://api:4242')
    expect(readInboxConfig(getEnvironment('inbox')).INBOX_HOST).toBe('0.0.0.0')
    expect(readApiConfig(getEnvironment('api')).DEMO_SIGN_IN).toBe(DEMO_EMAIL)
  })

  test('docker-compose.yml sets for each process the variables that npm start sets', () => {
    const addresses = {
      databaseUrl: '',
      temporalAddress: '',
      workerRpcUrls: '',
      rpcUrl: '',
      apiUrl: '',
      publicUrl: '',
      sandboxUrl: '',
      inboxUrl: '',
    }
    const parts = { addresses, ports: DEFAULT_PORTS, secrets: generateSecrets(), dataFolder: '' }
    // Ports, the token and the drivers keep their defaults, and no test waits for Ctrl-C or measures here.
    const own = ['API_PORT', 'SANDBOX_PORT', 'INBOX_PORT', 'USDC_ADDRESS', 'API_DRAIN_MS', 'WORKER_SHUTDOWN_GRACE_MS']
    const drivers = PROVIDER_NAMES.flatMap((name) =>
      [`PROVIDER_${name}`, `${name}_ACCOUNT`].map((variable) => variable.toUpperCase()),
    )
    const needless = new Set([...own, ...drivers, 'API_REQUESTS_PER_SECOND'])
    const missing = Object.entries(createEnvironments(parts)).flatMap(([name, environment]) =>
      Object.keys(environment).filter((key) => !needless.has(key) && !(key in getEnvironment(name))),
    )
    expect(missing).toEqual([])
  })

  test('a typing error in a variable is detected', () => {
    const { DATABASE_URL: _left, ...rest } = getEnvironment('api')
    expect(() => readApiConfig(rest)).toThrow('DATABASE_URL')
    expect(KNOWN_VARIABLES.has('DATABSE_URL')).toBe(false)
  })

  test('the encryption key is 32 bytes and the treasury address belongs to its key', () => {
    expect(Buffer.from(getEnvironment('api')['WEBHOOK_ENCRYPTION_KEY'] ?? '', 'base64')).toHaveLength(32)
    expect(getEnvironment('sandbox')['SANDBOX_TREASURY']).toBe(
      deriveAddress(getEnvironment('worker')['TREASURY_KEY'] ?? ''),
    )
  })

  test('docker-compose.yml publishes every port on this machine only', () => {
    const published = services.flatMap(([, { ports }]) => ports ?? [])
    expect(published.length).toBeGreaterThan(0)
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
  })

  test('docker-compose.yml pins every image, names no container, and mounts only declared volumes and existing files', () => {
    for (const [name, service] of services) {
      expect([name, service.container_name]).toEqual([name, undefined])
      // An exact version: `18` would be another Postgres next year.
      if (service.build === undefined) expect(service.image).toMatch(/:v?\d+\.\d+(?:\.\d+)?(?:-\w+)?$/)
      for (const volume of service.volumes ?? []) {
        const [source = ''] = volume.split(':')
        if (source.startsWith('./')) expect(read(source).length).toBeGreaterThan(0)
        else expect(Object.keys(compose.volumes)).toContain(source)
      }
    }
  })

  test('every long-running service is started again and has a health check', () => {
    const lasting = services.filter(([, { restart }]) => restart === 'unless-stopped')
    const unchecked = lasting.filter(([, { healthcheck }]) => healthcheck === undefined).map(([name]) => name)
    expect(unchecked).toEqual([])
    const oneShot = services.filter(([, { restart }]) => restart !== 'unless-stopped').map(([name]) => name)
    expect(oneShot.sort()).toEqual(['chain-volume', 'prepare', 'temporal-namespace', 'temporal-schema'])
  })

  test('no service can take all the memory of the machine', () => {
    expect(services.filter(([, { mem_limit: limit }]) => !/^\d+[mg]$/.test(limit ?? '')).map(([name]) => name)).toEqual(
      [],
    )
  })

  test('api and worker have more time to end than they need to finish their work', () => {
    const worker = readWorkerConfig(getEnvironment('worker'))
    const { worker: workerService, api: apiService } = compose.services
    const forced = worker.WORKER_SHUTDOWN_GRACE_MS + SHUTDOWN_FORCE_MS
    expect(parseMilliseconds(workerService?.stop_grace_period)).toBeGreaterThan(forced)
    const { API_DRAIN_MS: drain } = readApiConfig(getEnvironment('api'))
    expect(parseMilliseconds(apiService?.stop_grace_period)).toBeGreaterThan(drain)
    expect(drain).toBeGreaterThan(UPDATE_DEADLINE_MS)
  })

  test('the images have exact versions', () => {
    const from = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)]
      .map(([, image]) => image)
      .filter((image) => image?.includes(':'))
    expect(from).toEqual([expect.stringMatching(/^node:24\.\d+\.\d+-bookworm-slim$/)])
  })

  test('docker-compose.yml registers the search attributes that npm start does', () => {
    const script = read('ops/temporal-namespace.sh')
    for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES)) expect(script).toContain(`${name}=${type}`)
  })
})
