import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { createTestDatabase } from '../../scripts/test/services/databases.ts'
import { createDb } from '../../src/db/db.ts'

test('a server that disappears silently is given up after the time of a statement, and its connections are opened again', async () => {
  const database = await createTestDatabase()
  const way = await openWay(database.url)
  const over = createDb({ url: way.url, livemode: false, pool: 2, statementTimeoutMs: 100 })
  try {
    await Promise.all([over.query('select 1'), over.query('select 1'), over.answers()])
    way.fallSilent()
    const asked = [over.query('select 1'), over.transaction((tx) => tx.query('select 1')), over.answers()]
    for (const answer of asked) await expect(answer).rejects.toThrow('Query read timeout')
    await over.answers()
    expect((await over.transaction((tx) => tx.query('select 2 as two'))).rows).toEqual([{ two: 2 }])
  } finally {
    await over.close()
    way.close()
    await database.drop()
  }
}, 20_000)

/** A connection to the server that can lose sent bytes without an error. */
async function openWay(url: string) {
  const target = new URL(url)
  const pairs: Socket[][] = []
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    pairs.push([client, upstream])
    client.on('data', (data) => upstream.write(data)).on('error', () => undefined)
    upstream.on('data', (data) => client.write(data)).on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    fallSilent() {
      for (const socket of pairs.flat()) socket.removeAllListeners('data').resume()
    },
    close() {
      for (const socket of pairs.flat()) socket.destroy()
      server.close()
    },
  }
}
