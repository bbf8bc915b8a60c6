import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createBridge } from '../../../src/partners/bridge/bridge.ts'
import { readBridgeCallback } from '../../../src/partners/bridge/callback.ts'
import { signBridgeEvent } from '../../../src/sandbox/bridge/bridge.ts'
import type { SandboxTransfer } from '../../../src/sandbox/bridge/state.ts'
import { soon } from '../sandbox-server.ts'

describe('A webhook of Bridge', () => {
  const NOW = 1_705_854_411_204
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keys = [other.publicKey, own.publicKey]
  const transfer: SandboxTransfer = {
    id: 'tr_1',
    clientReference: 'rfl_1',
    currency: 'eur',
    state: 'payment_processed',
    txHash: `0x${'1'.repeat(64)}`,
  }
  const read = (signed: ReturnType<typeof signBridgeEvent>, receivedAt = Math.floor(NOW / 1000)) =>
    readBridgeCallback(keys, { headers: signed.headers, body: Buffer.from(signed.body), receivedAt })
  const signed = signBridgeEvent(transfer, { key: own.privateKey, now: NOW })

  test('the published vector is authentic, and no event', () => {
    const key = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAtqsEE4eI7EmzhcquGJXt
LX9PMK0UH6Kl1WIR21sv8HtueG8BuvvpP3MiN7ltzmIhS8KaynCjN4l+620PnXeu
xWG+CSnEdkinL9hCqbEid5vv9zl0j9LWiJx3FkKHqADU7cgm46aa8dKUdIQYF2X+
O7WmyLkC4wUM/mWhBPMsIQBznashRMZxx7XJjsVp27ACUE4eNIjEXbVYN6U8jSbU
hG++CfL8xXu+GHDqKmFE6Po6HnuURvLFVnCtE3mXXBcVFlPy+octfx8nOMLT3X8O
9UehIigJ34o2yMm/Fq3HUJzg2BsiAiGgtr0vmeoV9Q7upSNj9TuOumAzZFi4pYA+
qwIDAQAB
-----END PUBLIC KEY-----`
    const signature =
      'jz/0dmHJ63FAzacGutrDTEoq+iSz/PHm/ugdooXDQu5NwuVIT2LmZGjsnCsBHgR9Py6OBP9zurzW4dHgygU4EDqmMPTUOvhvndYb4lWt+TY66LihaFI2whL6DAf/jb1QjYjNU0A6x9SLzC45dgE6X7zTDUM+2Z+scG/WEQf6SxQMt4E2sEipl5PqMK5lYUe3otdJV+X2c9D64bGwCEE7QSia+Vhozg8QNOQEk/rdz2IEONIg6oC43CeiN4E2kF9XLAGuy9uAHx9O9OJH5ZPLJZjyo4VcXYeWQgxaQ1gZ1Qu6hEEzgiPSff/1nou58dm4bIIazgCWli/mO0NyGcpfFw=='
    const readVector = (body: string) =>
      readBridgeCallback([createPublicKey(key)], {
        headers: { 'x-webhook-signature': `t=${NOW},v0=${signature}` },
        body: Buffer.from(body),
        receivedAt: Math.floor(NOW / 1000),
      })
    // https://apidocs.bridge.xyz/v1/docs/webhook-event-signature-verification
    expect(readVector('{"message":"Hello World!"}')).toEqual({ kind: 'refused', reason: 'format' })
    expect(readVector('{"message":"Hello World?"}')).toEqual({ kind: 'refused', reason: 'signature' })
  })

  test('an authentic webhook names the transfer and our refill', () => {
    expect(read(signed)).toEqual({ kind: 'transfer', reference: 'tr_1', refillId: 'rfl_1' })
  })

  test.each([
    ['a changed body', { ...signed, body: signed.body.replace('rfl_1', 'rfl_2') }, 0, 'signature'],
    ['no signature', { ...signed, headers: {} }, 0, 'signature'],
    ['a time in seconds', { ...signed, headers: { 'x-webhook-signature': 't=1705854411,v0=AAAA' } }, 0, 'signature'],
    ['an age of eleven minutes', signed, 660, 'timestamp'],
    ['a time in eleven minutes', signed, -660, 'timestamp'],
  ])('a webhook with %s is refused', (_name, given, age, reason) => {
    const answer = read(given as typeof signed, Math.floor(NOW / 1000) + age)
    expect(answer).toEqual({ kind: 'refused', reason })
  })

  test('a webhook that another key signed is refused', () => {
    const strange = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const forged = signBridgeEvent(transfer, { key: strange.privateKey, now: NOW })
    expect(read(forged)).toEqual({ kind: 'refused', reason: 'signature' })
  })
})

describe('The answers of Bridge', () => {
  let answer: { readonly status: number; readonly body: unknown } = { status: 200, body: {} }
  const seen: {
    readonly method: string | undefined
    readonly headers: NodeJS.Dict<string | string[]>
    body: string
  }[] = []
  let server: Server
  beforeAll(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        seen.push({ method: request.method, headers: request.headers, body: Buffer.concat(chunks).toString() })
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })

  const bridge = () =>
    createBridge({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      apiKey: 'key-1',
      customer: 'cust_1',
      treasury: `0x${'b'.repeat(40)}`,
    })
  const refill = { id: 'rfl_1', money: { minor: '100000', currency: 'EUR' } } as const
  const TRANSFER = { id: 'tr_1', client_reference_id: 'rfl_1', state: 'awaiting_funds' }

  test('a request has the id of the refill as its idempotency key, and no amount', async () => {
    answer = {
      status: 201,
      body: { ...TRANSFER, source_deposit_instructions: { iban: 'IE1', deposit_message: 'BRG1' } },
    }
    expect(await bridge().request(refill, soon())).toEqual({
      reference: 'tr_1',
      state: 'awaits_money',
      word: 'awaiting_funds',
      instructions: 'iban: IE1; deposit message: BRG1',
      txHash: null,
    })
    const { method, headers, body } = seen.at(-1)!
    expect([method, headers['idempotency-key'], headers['api-key']]).toEqual(['POST', 'rfl_1', 'key-1'])
    expect(JSON.parse(body)).toEqual({
      client_reference_id: 'rfl_1',
      on_behalf_of: 'cust_1',
      source: { payment_rail: 'sepa', currency: 'eur' },
      destination: { payment_rail: 'polygon', currency: 'usdc', to_address: `0x${'b'.repeat(40)}` },
      features: { flexible_amount: true },
    })
  })

  test.each([
    ['another refill', 201, { ...TRANSFER, client_reference_id: 'rfl_2' }],
    ['no id', 201, { ...TRANSFER, id: '' }],
    ['an expired key', 422, { code: 'idempotency_key_expired' }],
    ['a fault', 500, {}],
  ])('an answer with %s is an error', async (_name, status, body) => {
    answer = { status, body }
    await expect(bridge().request(refill, soon())).rejects.toMatchObject({ name: 'PartnerError', kind: 'unknown' })
  })

  test('a hash counts only when the payment is processed, because an earlier one might be replaced', async () => {
    const receipt = { destination_tx_hash: `0x${'A'.repeat(64)}` }
    answer = { status: 200, body: { ...TRANSFER, state: 'payment_submitted', receipt } }
    expect(await bridge().read('tr_1', soon())).toMatchObject({ state: 'moving', txHash: null })
    answer = { status: 200, body: { ...TRANSFER, state: 'payment_processed', receipt } }
    expect(await bridge().read('tr_1', soon())).toMatchObject({ state: 'sent', txHash: `0x${'a'.repeat(64)}` })
  })

  test.each([
    ['canceled', 'ended'],
    ['refunded', 'ended'],
    ['returned', 'stuck'],
    ['undeliverable', 'stuck'],
    ['error', 'stuck'],
    ['a state of next year', 'stuck'],
  ])('%s is %s', async (word, state) => {
    answer = { status: 200, body: { ...TRANSFER, state: word } }
    expect(await bridge().read('tr_1', soon())).toMatchObject({ word, state })
  })

  test('a refill is found on a full page of the list', async () => {
    const others = Array.from({ length: 99 }, (_, index) => ({
      ...TRANSFER,
      client_reference_id: `rfl_of_before_${index}`,
      source_deposit_instructions: { bank_address: 'x'.repeat(2000) },
    }))
    answer = { status: 200, body: { data: [...others, TRANSFER] } }
    expect(await bridge().find('rfl_1', soon())).toMatchObject({ reference: 'tr_1' })
  })

  test('a refill that Bridge does not list is not found', async () => {
    answer = { status: 200, body: { data: [{ ...TRANSFER, client_reference_id: 'rfl_9' }] } }
    expect(await bridge().find('rfl_1', soon())).toBeNull()
  })
})
