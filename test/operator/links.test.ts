import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TEST_ENVIRONMENT } from '../../scripts/test/environment.ts'
import { aLink } from '../../scripts/test/new-link.ts'
import { findLink, insertLink } from '../../src/db/links/links.ts'
import { insertReport } from '../../src/db/links/reports.ts'
import { newId } from '../../src/ids.ts'
import { runPinrail } from '../../src/operator/command.ts'
import { type Seeded, seedDatabase } from '../webhooks/seed.ts'

let seeded: Seeded
let url: string
beforeAll(async () => {
  seeded = await seedDatabase()
  url = seeded.url
})
afterAll(() => seeded?.close())

const SIGNED = ['--operator', 'ada', '--reason', 'pretends to be a bank']

async function pinrail(...args: string[]): Promise<{ code: number; out: string }> {
  let out = ''
  const say = (text: string): void => void (out += text)
  const env = { ...TEST_ENVIRONMENT, DATABASE_URL: url }
  return { code: await runPinrail({ args, env }, { out: say, err: say }), out }
}

test('an operator reads the reports, stops the link by its address, and takes that back; the owner is told', async () => {
  const { db, tenant } = seeded
  expect(await pinrail('links', 'reports')).toEqual({ code: 0, out: 'nobody has reported a link\n' })
  const { id, code } = await insertLink(db, tenant, aLink({ id: newId('link') }))
  await insertReport(db, id, { reason: 'pretends', details: 'my bank', at: new Date().toISOString() })
  const reports = await pinrail('links', 'reports')
  expect([reports.code, reports.out]).toEqual([1, expect.stringContaining(id)])
  const address = `https://pay.example/l/${code}?amount=5`
  expect((await pinrail('links', 'stop', address)).code).toBe(2)
  expect((await pinrail('links', 'stop', 'https://pay.example/l/0000000000', ...SIGNED)).code).toBe(1)
  expect((await pinrail('links', 'stop', address, ...SIGNED)).code).toBe(0)
  expect(await findLink(db, tenant, id)).toMatchObject({ stoppedReason: 'pretends to be a bank', active: true })
  expect((await pinrail('links', 'stop', code, ...SIGNED)).code).toBe(1)
  expect((await pinrail('links', 'resume', id, ...SIGNED)).code).toBe(0)
  expect(await findLink(db, tenant, id)).toMatchObject({ stoppedAt: null })
  const { rows } = await db.query('select kind from notice order by id')
  expect(rows.map(({ kind }) => kind)).toEqual(['payment_link.stopped', 'payment_link.resumed'])
  const actions = await db.query('select kind, operator from operator_action order by id')
  expect(actions.rows).toEqual([
    { kind: 'payment_link.stopped', operator: 'ada' },
    { kind: 'payment_link.resumed', operator: 'ada' },
  ])
})
