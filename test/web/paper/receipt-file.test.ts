import { afterAll, beforeAll, expect, test } from '@jest/globals'
import supertest from 'supertest'
import { Problem } from '../../../src/api/http/problems.ts'
import { type CheckoutWorld, createCheckoutWorld, movePayment } from '../checkout-world.ts'

let world: CheckoutWorld
let left = 1000
const counted: string[] = []
beforeAll(async () => {
  world = await createCheckoutWorld({
    limits: {
      countLink: (_token, kind) => {
        counted.push(kind)
        if (kind === 'act' && left-- <= 0) throw new Problem('rate_limited', 'Too many requests with this link.')
      },
      countPaper: () => void counted.push('paper'),
    },
  })
})
afterAll(() => world.close())

const get = (path: string) => supertest(world.url).get(path)
const paid = async (description?: string): Promise<{ path: string; id: string }> => {
  const made = await world.create({ provider: 'wallet_app', ...(description !== undefined && { description }) })
  await movePayment(world, made.id, ['pending', 'processing', 'settling', 'succeeded'])
  return made
}

test('the receipt is a file at its own address once the payment was made, in the language that is asked for', async () => {
  const { path, id } = await paid()
  for (const page of [path, `${path}/receipt`]) expect((await get(page)).text).toContain(`href="${path}/receipt.pdf"`)
  const file = await get(`${path}/receipt.pdf`).set('accept-language', 'el').buffer(true).parse(bytes).expect(200)
  expect(file.headers).toMatchObject({
    'content-type': 'application/pdf',
    'content-language': 'el',
    'content-disposition': `attachment; filename="receipt-${id}.pdf"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  const text = (file.body as Buffer).toString('latin1')
  expect([text.startsWith('%PDF-'), text.includes('/Lang (el)')]).toEqual([true, true])
})

test('before it leads to the page of the receipt, which leads to the payment; where no face has a name too', async () => {
  const { path } = await world.create({ provider: 'wallet_app' })
  expect((await get(`${path}/receipt.pdf`).expect(303)).headers['location']).toBe(`${path}/receipt`)
  const chinese = await paid('夜行列車')
  expect((await get(`${chinese.path}/receipt.pdf`).expect(303)).headers['location']).toBe(`${chinese.path}/receipt`)
  await supertest(world.url).post(`${path}/receipt.pdf`).expect(405)
})

test('a file counts as something done, of which a link has fewer than pages', async () => {
  const { path } = await paid()
  counted.length = 0
  left = 2
  const answers: number[] = []
  for (let nth = 0; nth < 3; nth++) answers.push((await get(`${path}/receipt.pdf`)).status)
  answers.push((await get(`${path}/receipt`)).status)
  expect(answers).toEqual([200, 200, 429, 200])
  expect(counted.join(' ')).toBe('look act paper look act paper look act look')
})

function bytes(response: supertest.Response, done: (error: Error | null, body: Buffer) => void): void {
  const chunks: Buffer[] = []
  const stream = response as unknown as NodeJS.ReadableStream
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('end', () => done(null, Buffer.concat(chunks)))
}
