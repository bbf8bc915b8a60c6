import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from '@jest/globals'
import { until } from '../../scripts/test/until.ts'
import { type Balancer, startBalancer } from '../support/balancer.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

describe('npm run cluster', () => {
  const cluster = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/run.mjs', 'lab/cluster/main.ts', ...args], { cwd: ROOT, encoding: 'utf8' })

  test('npm run cluster lists its options', () => {
    const { status, stdout } = cluster('--help')
    expect([status, stdout]).toEqual([0, expect.stringContaining('--workers LIST')])
  }, 30_000)

  test('npm run cluster starts nothing for an unknown option', () => {
    const { status, stderr } = cluster('--faults', 'kill -9 apis')
    expect([status, stderr]).toEqual([1, expect.stringContaining('--faults must be of: rolling restart of the apis, ')])
  }, 30_000)
})

describe('the load balancer', () => {
  const servers: Server[] = []
  let balancer: Balancer | undefined
  afterEach(async () => {
    await balancer?.close()
    for (const server of servers.splice(0)) server.close()
  })

  /** A server that answers every request with its name. */
  async function named(name: string): Promise<number> {
    const server = createServer((socket) => socket.end(name))
    servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as { port: number }).port
  }

  async function ask(): Promise<string> {
    const socket: Socket = connect(balancer!.port, '127.0.0.1')
    let said = ''
    socket.on('data', (bytes) => {
      said += bytes
    })
    socket.on('error', () => undefined)
    await once(socket, 'close')
    return said
  }

  test('the load balancer sends requests to all servers in turn, and skips one that does not listen', async () => {
    const gone = createServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const { port } = gone.address() as { port: number }
    gone.close()
    await once(gone, 'close')
    balancer = await startBalancer({ port: 0, targets: [await named('a'), port, await named('b')] })
    const said = [await ask(), await ask(), await ask(), await ask()]
    expect([...new Set(said)].sort()).toEqual(['a', 'b'])
  })

  test('the load balancer sends no request to an unhealthy server, or to every server if none is healthy', async () => {
    const [a, b] = [await named('a'), await named('b')]
    let healthy: readonly number[] = [b]
    balancer = await startBalancer({ port: 0, targets: [a, b] }, async (port) => healthy.includes(port))
    const pair = async (): Promise<string> => (await ask()) + (await ask())
    await until(pair, (said) => said === 'bb')
    expect((await pair()) + (await pair())).toBe('bbbb')
    healthy = []
    await until(pair, (said) => ['ab', 'ba'].includes(said))
  })
})
