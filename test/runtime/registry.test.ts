import { afterEach, describe, expect, test } from '@jest/globals'
import { openRegistry } from '../../src/runtime/registry.ts'

/** The page that Prometheus reads. */

const ABOUT = { name: 'pinrail_things', help: 'Things.', labels: ['kind'] } as const

test('a gauge shows the last values alone, and no series while it cannot be read', async () => {
  const registry = openRegistry('pinrail-test')
  let read = async (): Promise<{ value: number; labels: { kind: string } }[]> => [
    { value: 1, labels: { kind: 'old' } },
    { value: 2, labels: { kind: 'new' } },
  ]
  registry.watch(ABOUT, 'gauge', () => read())
  expect(await registry.page()).toContain('pinrail_things{kind="old"} 1\npinrail_things{kind="new"} 2\n')
  read = async () => [{ value: 3, labels: { kind: 'new' } }]
  const next = await registry.page()
  expect(next).toContain('# TYPE pinrail_things gauge\npinrail_things{kind="new"} 3\n')
  expect(next).not.toContain('old')
  read = () => Promise.reject(new Error('gone'))
  expect(await registry.page()).not.toContain('pinrail_things{')
  read = async () => [{ value: 0, labels: { kind: 'new' } }]
  expect(await registry.page()).toContain('pinrail_things{kind="new"} 0\n')
})

test('a counter shows the value that was read, not the sum of what was read', async () => {
  const registry = openRegistry('pinrail-test')
  let value = 5
  registry.watch({ name: 'pinrail_calls_total', help: 'Calls.', labels: [] }, 'counter', () => [{ value, labels: {} }])
  expect(await registry.page()).toMatch(/^# TYPE pinrail_calls_total counter\npinrail_calls_total 5$/m)
  value = 7
  expect(await registry.page()).toMatch(/^pinrail_calls_total 7$/m)
})

test('a timer counts each measurement in the buckets of its labels', async () => {
  const registry = openRegistry('pinrail-test')
  const begin = registry.timer({ name: 'pinrail_wait_seconds', help: 'Waits.', labels: ['outcome'] }, [0, 60])
  expect(begin()({ outcome: 'answered' })).toBeGreaterThan(0)
  begin()({ outcome: 'answered' })
  const text = await registry.page()
  expect(text).toContain('pinrail_wait_seconds_count{outcome="answered"} 2\n')
  expect(text).toContain('pinrail_wait_seconds_bucket{outcome="answered",le="0"} 0\n')
  expect(text).toContain('pinrail_wait_seconds_bucket{outcome="answered",le="60"} 2\n')
  expect(text).toContain('pinrail_wait_seconds_bucket{outcome="answered",le="+Inf"} 2\n')
})

describe('the description of the process', () => {
  afterEach(() => {
    delete process.env['OTEL_SERVICE_NAME']
    delete process.env['OTEL_RESOURCE_ATTRIBUTES']
  })

  test('the page names the process, and no label of another metric does', async () => {
    const registry = openRegistry('pinrail-api')
    registry.watch(ABOUT, 'gauge', () => [{ value: 1, labels: { kind: 'a' } }])
    const text = await registry.page()
    expect(text).toContain('target_info{service_name="pinrail-api"} 1\n')
    expect(text).toContain('\npinrail_things{kind="a"} 1\n')
  })

  test('OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES describe it further', async () => {
    process.env['OTEL_SERVICE_NAME'] = 'checkout'
    process.env['OTEL_RESOURCE_ATTRIBUTES'] = 'deployment.environment.name=eu'
    const [info = ''] = /^target_info\{.*/m.exec(await openRegistry('pinrail-api').page()) ?? []
    expect(info).toContain('service_name="checkout"')
    expect(info).toContain('deployment_environment_name="eu"')
  })
})
