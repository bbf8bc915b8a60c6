import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { defaultPayloadConverter, type Payload } from '@temporalio/common'
import { createPayloadCodec, createWorkerCodec, parseCodecKeys } from '../../src/temporal/codec.ts'
import { refusalOf } from '../../src/temporal/refused-message.ts'

const key = (id: string) => ({ id, key: randomBytes(32) })
const [first, second] = [key('2026-01'), key('2026-02')]
const payload = (value: unknown): Payload => defaultPayloadConverter.toPayload(value)!
const valueOf = (of: Payload | undefined): unknown => defaultPayloadConverter.fromPayload(of!)
const message = { type: 'workflow', namespace: 'default', workflowId: 'pay_1' } as const
const result = { type: 'activity', namespace: 'default', workflowId: 'pay_1', isLocal: false } as const

describe('with several keys', () => {
  test('the first encrypts and says its id, and each decrypts what it encrypted', async () => {
    const [old] = await createPayloadCodec([first]).encode([payload({ secret: 'ada' })])
    const rotated = createPayloadCodec([second, first])
    const [fresh] = await rotated.encode([payload('new')])
    expect(Buffer.from(old!.metadata!['encryption-key-id']!).toString()).toBe('2026-01')
    expect(Buffer.from(fresh!.metadata!['encryption-key-id']!).toString()).toBe('2026-02')
    expect(Buffer.from(old!.data!).toString('latin1')).not.toContain('ada')
    expect((await rotated.decode([old!, fresh!])).map(valueOf)).toEqual([{ secret: 'ada' }, 'new'])
  })

  test('a payload of a key that is not here is an error that names it, for a worker too: it may be ours', async () => {
    const [old] = await createPayloadCodec([first]).encode([payload(1)])
    const expected = 'TEMPORAL_CODEC_KEYS has no key "2026-01"'
    await expect(createPayloadCodec([second]).decode([old!])).rejects.toThrow(expected)
    await expect(createWorkerCodec([second]).decode([old!], message)).rejects.toThrow(expected)
  })

  test('another key under the same id opens nothing', async () => {
    const [old] = await createPayloadCodec([first]).encode([payload(1)])
    const wrong = createPayloadCodec([{ id: first.id, key: second.key }])
    await expect(wrong.decode([old!])).rejects.toThrow('refused a payload that the key 2026-01 did not encrypt')
  })
})

describe('what is not ours', () => {
  const codec = createPayloadCodec([first])
  const changed = async (): Promise<Payload> => {
    const [sealed] = await codec.encode([payload(1)])
    const data = Buffer.from(sealed!.data!)
    data[20]! ^= 1
    return { ...sealed!, data }
  }

  test.each<[string, () => Promise<Payload>]>([
    ['plaintext', async () => payload({ operator: 'eve' })],
    ['a changed payload', changed],
    ['a cut one', async () => ({ ...(await changed()), data: Buffer.alloc(3) })],
    [
      'one that calls itself encrypted',
      async () => ({ ...(await changed()), data: Buffer.from('{"operator":"eve"}') }),
    ],
  ])(
    '%s is refused by a client, and in an activity’s answer; a worker hands a message on as refused',
    async (_what, make) => {
      const bad = await make()
      await expect(codec.decode([bad])).rejects.toThrow('refused a payload')
      const worker = createWorkerCodec([first])
      await expect(worker.decode([bad], result)).rejects.toThrow('refused a payload')
      await expect(worker.decode([bad])).rejects.toThrow('refused a payload')
      const [refused] = await worker.decode([bad], message)
      expect(refusalOf([valueOf(refused)])).toMatch(/^refused a payload/)
    },
  )
})

test.each(['', 'a', 'a:', `a:${Buffer.alloc(16).toString('base64')}`, ':x'])(
  'keys must have an id and 32 bytes: %j',
  (text) => {
    expect(() => parseCodecKeys(text)).toThrow('TEMPORAL_CODEC_KEYS must be <id>:<32 bytes in base64>')
  },
)

test('two keys of one id are refused', () => {
  const text = [first, first].map(({ id, key: bytes }) => `${id}:${bytes.toString('base64')}`).join(',')
  expect(() => parseCodecKeys(text)).toThrow('each id once')
})
