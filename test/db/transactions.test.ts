import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createTestDatabase } from '../../scripts/test/services/databases.ts'
import { createDb, type Db } from '../../src/db/db.ts'

let db: Db
let database: Awaited<ReturnType<typeof createTestDatabase>>
beforeAll(async () => {
  database = await createTestDatabase()
  db = createDb({ url: database.url, livemode: false, pool: 2 })
}, 60_000)
afterAll(async () => {
  await db?.close()
  await database?.drop()
})

test('what is to be done after the commit is done when others can see the change', async () => {
  await db.query('create table seen (id int)')
  let others = Promise.resolve<unknown>(null)
  let isTold = false
  const answer = await db.transaction(async (tx) => {
    tx.afterCommit(() => {
      isTold = true
      others = db.query('select id from seen').then(({ rows }) => rows)
    })
    await tx.query('insert into seen values (1)')
    expect(isTold).toBe(false)
    return 'done'
  })
  expect(answer).toBe('done')
  expect(await others).toEqual([{ id: 1 }])
})

test('and never when the transaction was rolled back', async () => {
  let told = 0
  const refused = db.transaction((tx) => {
    tx.afterCommit(() => told++)
    return Promise.reject(new Error('no'))
  })
  await expect(refused).rejects.toThrow('no')
  expect(told).toBe(0)
})
