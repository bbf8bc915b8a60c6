import { startServices } from './test/support/services.ts'
import { randomBytes } from 'node:crypto'
const services = await startServices()
process.env['PINRAIL_TEST_SERVICES'] = services.url
const { createWorld } = await import('./test/chain/world.ts')
const N = Number(process.argv[2] ?? 2000)
const relayers = Number(process.argv[3] ?? 2)
const world = await createWorld({ relayers, anvil: ['--block-time', '1'] })
const t0 = performance.now()
for (let i = 0; i < N; i += 1000) await world.queue(Array.from({ length: Math.min(1000, N - i) }, () => ({})))
console.log('queued ms', performance.now() - t0)
const cpu0 = process.cpuUsage()
const start = performance.now()
const runner = world.runner({ options: { rebroadcastMs: 4000, leaseMs: 5000, fundsGraceMs: 60000 } })
let ticks = 0
while (world.heard.settled.length < N && performance.now() - start < 120000) {
  const t = performance.now(); await runner.tick(); ticks++
  const d = performance.now() - t
  if (d < 50) await new Promise(r => setTimeout(r, 50 - d))
}
const s = (performance.now() - start) / 1000
const cpu = process.cpuUsage(cpu0)
console.log({ settled: world.heard.settled.length, seconds: s, perSecond: N / s, ticks, cpuMsPerPayout: (cpu.user + cpu.system) / 1000 / N, userMs: cpu.user/1000/N })
await world.stop(); await services.stop(); process.exit(0)
