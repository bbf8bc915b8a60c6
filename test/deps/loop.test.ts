import { getEventListeners } from 'node:events'
import { expect, test } from '@jest/globals'
import pino from 'pino'
import { createWakeup } from '../../src/runtime/wakeup.ts'
import { type Loop, runLoop } from '../../src/worker/loop.ts'
import { runWorker } from '../../src/worker/run.ts'

const log = pino({ level: 'silent' })

test('rounds that a wakeup starts keep their distance, and a wakeup in between is remembered', async () => {
  const wakeup = createWakeup()
  const stop = new AbortController()
  const began: number[] = []
  const tick = () => {
    began.push(performance.now())
    // A wakeup at once, as from each change of each payment.
    if (began.length < 5) wakeup.wake()
    else stop.abort()
    return Promise.resolve(0)
  }
  const idle = { everyMs: 600_000, wakeup, pageSize: 10, apartMs: 30 }
  await runLoop({ name: 'woken in vain', everyMs: 600_000, tick, idle, log }, stop.signal)
  const gaps = began.slice(1).map((at, index) => at - (began[index] ?? 0))
  expect(gaps).toHaveLength(4)
  // A timer of Node can be a millisecond early.
  expect(Math.min(...gaps)).toBeGreaterThan(28)
})

test('a process that ends waits for no distance', async () => {
  const stop = new AbortController()
  const tick = () => {
    // After the round, while its loop waits.
    setTimeout(() => stop.abort(), 20)
    return Promise.resolve(0)
  }
  const idle = { everyMs: 600_000, wakeup: createWakeup(), pageSize: 10, apartMs: 600_000 }
  await runLoop({ name: 'far apart', everyMs: 600_000, tick, idle, log }, stop.signal)
  expect(stop.signal.aborted).toBe(true)
})

test('a worker of thirty loops listens once for its end, so that Node warns of no leak, and all of them end', async () => {
  const stop = new AbortController()
  const began = new Set<string>()
  const loops = Array.from({ length: 30 }, (_, index): Loop => {
    const name = `loop ${index}`
    return { name, everyMs: 600_000, tick: async () => void began.add(name), log }
  })
  const settlement = { run: (signal: AbortSignal) => runLoop({ ...loops[0]!, name: 'settlement' }, signal) }
  const ended = runWorker({ workers: [], settlement, loops, log, ready: () => undefined }, stop)
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1)
  stop.abort()
  expect(await ended).toBe(0)
  expect(began.size).toBe(30)
})

test('a worker whose end was requested before its start ends', async () => {
  const stop = new AbortController()
  stop.abort()
  const tick = () => Promise.resolve()
  const loops = [{ name: 'never', everyMs: 600_000, tick, log }]
  const settlement = { run: (signal: AbortSignal) => runLoop({ ...loops[0]!, name: 'settlement' }, signal) }
  expect(await runWorker({ workers: [], settlement, loops, log, ready: () => undefined }, stop)).toBe(0)
})
