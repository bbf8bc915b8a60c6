import { createHmac } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { describeCallbacks } from '../callback-suite.ts'
import { describeConformance } from '../conformance.ts'
import { describeExamples } from '../examples.ts'
import { startSandboxServer } from '../sandbox-server.ts'
import { kestrel } from './driver.ts'
import { kestrelWire } from './simulator.ts'
import { errorSchema, orderSchema } from './wire.ts'

/** A driver for a company that does not exist, added as "Add a driver" in docs/providers.md says. */

const PROVIDER = 'wallet_app'
const start = () => startSandboxServer({ added: { provider: PROVIDER, driver: kestrel, wire: kestrelWire } })

describeConformance('A driver that is added', { provider: PROVIDER }, start)

describeCallbacks(
  'Callbacks of a driver that is added',
  {
    provider: PROVIDER,
    wire: kestrelWire,
    without: ['second signature'],
    sign: (body, secret, now) => ({
      'kestrel-proof': `${now} ${createHmac('sha256', secret).update(`${now}\n`).update(body).digest('hex')}`,
    }),
  },
  start,
)

describeExamples('fictitious', { 'order.json': orderSchema, 'error.json': errorSchema })

describe('The page about adding a driver', () => {
  const page = readFileSync(new URL('../../../docs/providers.md', import.meta.url), 'utf8')
  const section = page.slice(page.indexOf('## Add a driver'))

  test('every file and folder that the page names exists', () => {
    const named = [...section.matchAll(/`((?:src|test|docs|scripts)\/[\w./-]+)`/g)].map(([, path]) => path!)
    expect(named.length).toBeGreaterThan(8)
    for (const path of named)
      expect([path, existsSync(new URL(`../../../${path}`, import.meta.url))]).toEqual([path, true])
  })

  test('the page about adding a driver fits on one printed page', () => {
    expect(section.split('\n').length).toBeLessThan(60)
  })
})
