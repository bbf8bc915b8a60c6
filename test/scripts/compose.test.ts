import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { addressOf } from '../../scripts/system/environment.ts'
import { SEARCH_ATTRIBUTES } from '../../scripts/system/temporal.ts'
import {
  KNOWN_VARIABLES,
  readApiConfig,
  readInboxConfig,
  readSandboxConfig,
  readWorkerConfig,
} from '../../src/config.ts'

type Service = {
  image: string
  build?: unknown
  container_name?: string
  environment?: Record<string, string>
  ports?: string[]
  healthcheck?: unknown
  restart?: string
  volumes?: string[]
  user?: string
}

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Service>
  volumes: Record<string, null>
}
const services = Object.entries(compose.services)
const ours = services.filter(([, service]) => service.build !== undefined)

/** As compose does: `${NAME:-default}` without NAME is its default. */
function environmentOf(name: string): Record<string, string> {
  const environment = compose.services[name]?.environment ?? {}
  return Object.fromEntries(
    Object.entries(environment).map(([key, value]) => [key, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')]),
  )
}

describe('docker-compose.yml', () => {
  test('sets no variable that the configuration does not know', () => {
    const unknown = ours.flatMap(([name, { environment }]) =>
      Object.keys(environment ?? {})
        .filter((key) => !KNOWN_VARIABLES.has(key))
        .map((key) => `${name}: ${key}`),
    )
    expect(unknown).toEqual([])
  })

  test('gives each of our processes everything that it refuses to start without', () => {
    expect(readApiConfig(environmentOf('api')).API_HOST).toBe('0.0.0.0')
    const urls = readWorkerConfig(environmentOf('worker')).POLYGON_RPC_URLS
    expect(urls.map((url) => url.reveal())).toEqual(['http://anvil:8545'])
    expect(readWorkerConfig(environmentOf('prepare')).CHAIN_ID).toBe(31_337)
    expect(readSandboxConfig(environmentOf('sandbox')).SANDBOX_CALLBACK_URL).toBe('http://api:4242')
    expect(readInboxConfig(environmentOf('inbox')).INBOX_HOST).toBe('0.0.0.0')
  })

  test('a typing error in a variable is seen', () => {
    const { DATABASE_URL: _left, ...rest } = environmentOf('api')
    expect(() => readApiConfig(rest)).toThrow('DATABASE_URL')
    expect(KNOWN_VARIABLES.has('DATABSE_URL')).toBe(false)
  })

  test('the encryption key is 32 bytes and the treasury address belongs to its key', () => {
    expect(Buffer.from(environmentOf('api')['WEBHOOK_ENCRYPTION_KEY'] ?? '', 'base64')).toHaveLength(32)
    expect(environmentOf('sandbox')['SANDBOX_TREASURY']).toBe(addressOf(environmentOf('worker')['TREASURY_KEY'] ?? ''))
  })

  test('publishes every port on this machine only', () => {
    const published = services.flatMap(([, { ports }]) => ports ?? [])
    expect(published.length).toBeGreaterThan(0)
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
  })

  test('pins every image, names no container, and mounts only volumes that are declared or files that are there', () => {
    for (const [name, service] of services) {
      expect([name, service.container_name]).toEqual([name, undefined])
      if (service.build === undefined) expect(service.image).toMatch(/:v?\d/)
      for (const volume of service.volumes ?? []) {
        const [source = ''] = volume.split(':')
        if (source.startsWith('./')) expect(read(source).length).toBeGreaterThan(0)
        else expect(Object.keys(compose.volumes)).toContain(source)
      }
    }
  })

  test('what runs for long is started again and has a health check, but for the worker and the UI', () => {
    const lasting = services.filter(([, { restart }]) => restart === 'unless-stopped')
    const unchecked = lasting.filter(([, { healthcheck }]) => healthcheck === undefined).map(([name]) => name)
    expect(unchecked.sort()).toEqual(['temporal-ui', 'worker'])
    const oneShot = services.filter(([, { restart }]) => restart !== 'unless-stopped').map(([name]) => name)
    expect(oneShot.sort()).toEqual(['chain-volume', 'prepare', 'temporal-namespace', 'temporal-schema'])
  })

  test('registers the search attributes that npm start does', () => {
    const script = read('ops/temporal-namespace.sh')
    for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES)) expect(script).toContain(`${name}=${type}`)
  })
})
