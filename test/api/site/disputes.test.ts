import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { listAudit } from '../../../src/db/accounts/audit.ts'
import { DISPUTE_STATUSES, type Dispute, type ReportedDispute } from '../../../src/domain/dispute/dispute.ts'
import { plantDispute } from '../support/disputes.ts'
import { plantRefund } from '../support/refunds.ts'
import { openTestApi, type TestApi } from '../support/test-api.ts'
import { type Account, onceIn, openAccount } from './account.ts'
import { signIn } from './visitor.ts'

const PDF = new Blob(['%PDF-1.7 receipt'], { type: 'application/pdf' })

let testApi: TestApi
let account: Account
let settled: string
beforeAll(async () => {
  testApi = await openTestApi()
  account = await openAccount(testApi, 'disputed@shop.example')
  ;({ settled } = await plantRefund(testApi.db, account.tenant))
})
afterAll(() => testApi?.close())

async function dispute(changes: Partial<ReportedDispute> = {}): Promise<Dispute> {
  await testApi.db.query('truncate dispute, dispute_answer cascade')
  const { rows } = await testApi.db.query('select id from attempt where payment_id = $1', [settled])
  return plantDispute(testApi.db, account.tenant, { attemptId: String(rows[0]?.id), ...changes })
}
const read = async (path: string): Promise<string> => stripTags((await account.owner.get(path)).html)
const pathTo = ({ id }: Dispute): string => `/dashboard/disputes/${id}`
const answers = async () => (await testApi.db.query('select kind, submit, texts, files from dispute_answer')).rows

function stripTags(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', '’')
    .replace(/\s+/g, ' ')
}

describe('Disputes in the dashboard', () => {
  test('a dispute is in the list, on the page of its payment, and on its own page with deadline and cost', async () => {
    const about = await dispute()
    for (const path of ['/dashboard/disputes', `/dashboard/payments/${settled}`])
      expect((await account.owner.get(path)).html).toContain(`href="${pathTo(about)}"`)
    expect(await read('/dashboard/disputes?status=won')).toContain('No disputes found')
    const page = await read(pathTo(about))
    expect(page).toMatch(
      /49\.99 EUR Needs evidence .*Submit evidence, or the dispute is lost\. The deadline is .* UTC: 13 days left\./,
    )
    expect(page).toMatch(/Taken by the bank 49\.99 EUR Partner’s fee, borne by us 20\.00 EUR/)
    expect(page).toContain('fraudulent, 10.4')
  })

  test('evidence with a file is sent once, and the page shows only the names of its fields', async () => {
    const about = await dispute()
    const once = await onceIn(account.owner, pathTo(about))
    const form = { once, submit: 'yes', explanation: 'Ada signed for it.', file_receipt: PDF, file_other: new Blob([]) }
    for (let sent = 0; sent < 2; sent++)
      expect(await account.owner.upload(`${pathTo(about)}/evidence`, form)).toMatchObject({
        status: 303,
        to: pathTo(about),
      })
    expect(await answers()).toEqual([{ kind: 'evidence', submit: true, texts: ['explanation'], files: ['receipt'] }])
    const page = await read(pathTo(about))
    expect(page).toMatch(/Your answer is on its way to the partner.*With explanation, receipt/)
    expect(page).not.toContain('Submit evidence')
    const entries = await listAudit(testApi.db, account.tenant.merchantId, { limit: 5 })
    expect(JSON.stringify(entries)).not.toContain('Ada signed')
  })

  test('evidence can be stored for later', async () => {
    const about = await dispute()
    const once = await onceIn(account.owner, pathTo(about))
    await account.owner.upload(`${pathTo(about)}/evidence`, { once, submit: 'no', explanation: 'To be continued.' })
    expect(await answers()).toMatchObject([{ submit: false }])
    await testApi.db.query(`update dispute_answer set state = 'sent', content = null, due_at = null`)
    expect(await read(pathTo(about))).toMatch(/The partner has stored it.*Submit evidence/)
  })

  test('wrong evidence is explained, and the texts stay', async () => {
    const about = await dispute()
    const once = await onceIn(account.owner, pathTo(about))
    const html = new Blob(['<html>'], { type: 'application/pdf' })
    const form = { once, explanation: 'It was delivered.', file_receipt: html }
    const refused = await account.owner.upload(`${pathTo(about)}/evidence`, form)
    expect(refused.status).toBe(400)
    expect(stripTags(refused.html)).toContain('ust be a PDF, JPEG or PNG file')
    expect(refused.html).toContain('href="#file_receipt"')
    expect(refused.html).toContain('It was delivered.')
    const nothing = await account.owner.upload(`${pathTo(about)}/evidence`, { once })
    expect(stripTags(nothing.html)).toContain('ust have at least one text or file')
    const large = await account.owner.upload(`${pathTo(about)}/evidence`, {
      once,
      file_receipt: new Blob(['%PDF-', new Uint8Array(6 * 1024 * 1024)]),
    })
    expect(large.to).toBe(`${pathTo(about)}?large`)
    expect(await read(large.to ?? '')).toContain('The files must have at most 4 MB together.')
    expect(await answers()).toEqual([])
  })

  test('a dispute is accepted, once', async () => {
    const about = await dispute()
    const once = await onceIn(account.owner, pathTo(about))
    const accept = () => account.owner.submit(`${pathTo(about)}/accept`, { once })
    expect([(await accept()).status, (await accept()).status]).toEqual([303, 303])
    expect(await answers()).toMatchObject([{ kind: 'accept' }])
    expect(await read(pathTo(about))).toContain('You accepted the dispute')
    const again = await account.owner.submit(`${pathTo(about)}/accept`, { once: 'another' })
    expect([again.status, stripTags(again.html)]).toEqual([409, expect.stringContaining('is being sent')])
  })

  test('a dispute that the partner takes no evidence for says so, and has no form', async () => {
    const about = await dispute({ answeredAt: 'partner' })
    const page = await read(pathTo(about))
    expect(page).toContain('This partner takes evidence only in its own dashboard')
    expect(page).not.toContain('Submit evidence')
  })

  test.each(Object.keys(DISPUTE_STATUSES) as Dispute['status'][])(
    'a dispute that is %s has its page',
    async (status) => {
      const about = await dispute({ status })
      expect((await account.owner.get(pathTo(about))).status).toBe(200)
    },
  )

  test('a stranger finds no dispute', async () => {
    const about = await dispute()
    const stranger = await openAccount(testApi, 'stranger@shop.example')
    expect((await stranger.owner.get(pathTo(about))).status).toBe(404)
    const once = 'of-a-stranger'
    expect((await stranger.owner.submit(`${pathTo(about)}/accept`, { once })).status).toBe(404)
    expect(await answers()).toEqual([])
  })

  test('files of a person who is not signed in are not read', async () => {
    const about = await dispute()
    const visitor = await signIn(testApi, 'nobody@shop.example')
    visitor.cookies.clear()
    const sent = await visitor.upload(`${pathTo(about)}/evidence`, { file_receipt: PDF })
    expect(sent).toMatchObject({ status: 303, to: '/sign-in?to=/dashboard' })
  })
})
