import { expect, test } from '@jest/globals'
import { createRegistry, watchBooks } from '../../src/runtime/metrics.ts'

test('metrics of a database that never answers arrive within half of Prometheus’s timeout', async () => {
  const registry = createRegistry('pinrail-test', () => ({ total: 0, idle: 0, waiting: 0 }))
  const silent = (): Promise<never> => new Promise(() => undefined)
  watchBooks(registry, {
    payments: silent,
    attention: silent,
    backlog: silent,
    settled: silent,
    applicants: silent,
    partners: silent,
    invariants: silent,
    reconciled: silent,
  })
  const began = performance.now()
  expect(await registry.page()).toContain('pinrail_books_readable 0')
  expect(performance.now() - began).toBeLessThan(9000)
}, 20_000)
