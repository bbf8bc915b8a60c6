import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createTestDatabase, type TestDatabase } from '../../scripts/test/services/databases.ts'
import { createDb, type Db } from '../../src/db/db.ts'
import { assertMode, claimMode, ModeRefusal } from '../../src/db/deployment.ts'
import { newId } from '../../src/ids.ts'
import { plant } from '../deps/two-modes.ts'

let database: TestDatabase
let live: Db
let testing: Db
beforeEach(async () => {
  database = await createTestDatabase()
  live = createDb({ url: database.url, livemode: true, pool: 2 })
  testing = createDb({ url: database.url, livemode: false, pool: 2 })
})
afterEach(async () => {
  await live?.close()
  await testing?.close()
  await database?.drop()
})

const stamps = async () => (await testing.query('select livemode from deployment')).rows

async function addPayment(livemode: boolean): Promise<void> {
  const merchantId = newId('merchant')
  await testing.query("insert into merchant (id, name) values ($1, 'Shop')", [merchantId])
  await plant(testing, { merchantId, livemode })
}

describe('The mode of a database', () => {
  test('a database gets the mode of the first process, and refuses one of the other mode with both modes and what to do', async () => {
    await claimMode(live)
    await claimMode(live)
    expect(await stamps()).toEqual([{ livemode: true }])
    const refusal = claimMode(testing)
    await expect(refusal).rejects.toThrow(ModeRefusal)
    await expect(refusal).rejects.toThrow(
      'This process is in test mode, but its database belongs to a live deployment. Set DATABASE_URL to the database ' +
        'of the test deployment, or PINRAIL_MODE=live.',
    )
    expect(await stamps()).toEqual([{ livemode: true }])
  })

  test('a database is stamped once if processes of both modes start at the same moment', async () => {
    const starts = await Promise.allSettled([live, testing, live, testing].map(claimMode))
    expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    expect(await stamps()).toHaveLength(1)
  })

  test.each([true, false])('a database with payments is stamped with their mode (livemode %p)', async (livemode) => {
    await addPayment(livemode)
    await expect(claimMode(livemode ? testing : live)).rejects.toThrow(ModeRefusal)
    expect(await stamps()).toEqual([{ livemode }])
    await claimMode(livemode ? live : testing)
  })

  test('a database with payments of both modes is not stamped, and the refusal says how to find them', async () => {
    await addPayment(true)
    await addPayment(false)
    for (const [db, foreign] of [
      [live, 'false'],
      [testing, 'true'],
    ] as const) {
      await expect(claimMode(db)).rejects.toThrow(
        `select id, merchant_id, status, created_at from payment where livemode = ${foreign}`,
      )
      await expect(claimMode(db)).rejects.toThrow(ModeRefusal)
    }
    expect(await stamps()).toEqual([])
  })

  test('a database with payments of both modes is stamped by hand, as the documentation says', async () => {
    await addPayment(true)
    await addPayment(false)
    await live.query('insert into deployment (livemode) values (true)')
    await claimMode(live)
    await expect(claimMode(testing)).rejects.toThrow(ModeRefusal)
  })

  test('the mode of a database can be removed until it has a payment', async () => {
    await claimMode(live)
    await live.query('delete from deployment')
    await claimMode(testing)
    await addPayment(false)
    for (const text of ['delete from deployment', 'update deployment set livemode = true'])
      await expect(testing.query(text)).rejects.toThrow('the mode of a database with payments is fixed')
    await expect(testing.query('insert into deployment (livemode) values (true)')).rejects.toThrow('duplicate key')
  })
})

describe('Checking the mode without stamping', () => {
  test('a check stamps nothing, and derives the mode of an unstamped database from its payments', async () => {
    await assertMode(live)
    await assertMode(testing)
    await addPayment(true)
    await assertMode(live)
    await expect(assertMode(testing)).rejects.toThrow('belongs to a live deployment')
    expect(await stamps()).toEqual([])
  })
})

test('a request cannot have a tenant of the other mode', () => {
  expect(() => testing.as({ merchantId: 'mer_1', livemode: true })).toThrow('mer_1 was asked for in the other mode')
})
