import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { runCommand } from '../../../src/operator/command.ts'
import { verifyReceipt } from '../../../src/verifier/verifier.js'
import { plantReceipt } from '../support/receipts.ts'
import { expectProblem, openShop, type Shop } from '../support/shop.ts'

let shop: Shop
const folder = mkdtempSync(join(tmpdir(), 'receipts-'))
beforeAll(async () => {
  shop = await openShop()
}, 60_000)
afterAll(async () => {
  await shop?.close()
  rmSync(folder, { recursive: true })
})

async function newPayment(): Promise<string> {
  const { body } = await shop.ask('POST', '/v1/payments', { body: { amount: '49.99', currency: 'EUR' } })
  return String(body['id'])
}

async function publishedKeys(): Promise<{ text: string; keys: { kid: string; x: string }[] }> {
  const answer = await fetch(`${shop.url}/.well-known/jwks.json`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch('application/jwk-set+json')
  const text = await answer.text()
  return { text, keys: (JSON.parse(text) as { keys: { kid: string; x: string }[] }).keys }
}

test('a payment that is not settled has no receipt: the answer says where it stands', async () => {
  const answer = await shop.ask('GET', `/v1/payments/${await newPayment()}/receipt`)
  expectProblem(answer, 409, 'receipt_not_available')
  expect(answer.body).toMatchObject({
    payment_status: 'created',
    detail: expect.stringContaining('this one is created'),
  })
  expect(answer.headers.get('retry-after')).toBeNull()
})

test('a payment that was just settled has none yet: the answer says when to ask again', async () => {
  const id = await newPayment()
  await shop.db.query(
    `update payment set status = 'succeeded', tx_hash = $2, log_index = 1, block_number = 7, finalized_at = now() where id = $1`,
    [id, `0x${'33'.repeat(32)}`],
  )
  const answer = await shop.ask('GET', `/v1/payments/${id}/receipt`)
  expectProblem(answer, 409, 'receipt_not_available')
  expect(answer.body['payment_status']).toBe('succeeded')
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
})

test('a receipt verifies with the keys that are published, and goes with the log that it rests on', async () => {
  const id = await newPayment()
  const planted = await plantReceipt(shop.db, id)
  const answer = await shop.ask('GET', `/v1/payments/${id}/receipt`)
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual(planted)
  const { keys } = await publishedKeys()
  const { verdict } = await verifyReceipt(answer.text, { keys, blockHash: planted.claims.block_hash })
  expect(verdict).toBe('proved')
  await shop.db.query('delete from treasury_log where tx_hash = $1 and log_index = $2', [
    planted.claims.tx_hash,
    planted.claims.log_index,
  ])
  expectProblem(await shop.ask('GET', `/v1/payments/${id}/receipt`), 409, 'receipt_not_available')
})

test('the command checks a receipt without any variable, and answers 0 only when everything holds', async () => {
  const id = await newPayment()
  const { claims } = await plantReceipt(shop.db, id)
  const { text } = await shop.ask('GET', `/v1/payments/${id}/receipt`)
  const [file, wrong, keys] = ['receipt.json', 'wrong.json', 'keys.json'].map((name) => join(folder, name))
  writeFileSync(file!, text)
  writeFileSync(wrong!, text.replace('95.500000', '95.500001'))
  writeFileSync(keys!, (await publishedKeys()).text)
  const said: string[] = []
  const run = (...args: string[]) =>
    runCommand({ args: ['verify', ...args], env: {}, say: (line) => void said.push(line) })
  expect(await run(file!, '--keys', keys!, '--block-hash', claims.block_hash)).toBe(0)
  expect(said.at(-1)).toMatch('PROVED')
  expect(await run(file!)).toBe(1)
  expect(said.at(-1)).toMatch('OPEN')
  expect(said.join('\n')).toContain(`its hash must be ${claims.block_hash}`)
  expect(await run(wrong!, '--block-hash', claims.block_hash)).toBe(1)
  expect(said.join('\n')).toContain('claims.net_usdc must be what was transferred, 95.500000')
  expect(said.at(-1)).toMatch('WRONG')
  await expect(run(join(folder, 'absent.json'))).rejects.toThrow('cannot be read')
  await expect(run(file!, '--keys', file!)).rejects.toThrow('must be a set of keys')
})

test('the page that checks receipts loads nothing from elsewhere, and runs what the command runs', async () => {
  const page = await fetch(`${shop.url}/receipts/verify`)
  expect(page.status).toBe(200)
  expect(page.headers.get('content-security-policy')).toMatch("default-src 'none'; script-src 'self'")
  const html = await page.text()
  const load = async (path: string): Promise<string> => {
    const answer = await fetch(`${shop.url}${path}`)
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
      path,
      200,
      'text/javascript; charset=utf-8',
    ])
    return answer.text()
  }
  const [, script = ''] = /<script src="([^"]+)"/.exec(html) ?? []
  const imported = (text: string): string[] => [...text.matchAll(/from '([^']+)'/g)].map(([, path]) => path!)
  const [verifier, ...more] = imported(await load(script))
  expect(more).toEqual([])
  const [reading, ...others] = imported(await load(verifier!))
  expect(others).toEqual([])
  const source = new URL('../../../src/verifier/reading.js', import.meta.url)
  expect(await load(reading!)).toBe(readFileSync(source, 'utf8'))
  expect(imported(readFileSync(source, 'utf8'))).toEqual([])
  expect(html).not.toMatch(/https?:\/\//)
  for (const path of ['/receipts/verify', '/.well-known/jwks.json'])
    expect((await fetch(`${shop.url}${path}`, { method: 'POST' })).status).toBe(405)
})
