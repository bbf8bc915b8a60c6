import { Webhook } from 'standardwebhooks'
import { type Receiver, startReceiver } from './listeners.ts'

export type Received = { id: string; timestamp: string; signature: string; body: Buffer; genuine: boolean }

/** A merchant's receiver: verifies each webhook with the library and responds with `answer`. */
export type Merchant = Receiver & {
  readonly received: Received[]
  /** The endpoint's secret, once it is known. */
  secret: string
}

export async function startMerchant(
  answer: (count: number) => { status: number; headers?: Record<string, string> } = () => ({ status: 204 }),
): Promise<Merchant> {
  const merchant = { received: [] as Received[], secret: '' }
  const receiver = await startReceiver(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const header = (name: string) => String(request.headers[name])
    merchant.received.push({
      id: header('webhook-id'),
      timestamp: header('webhook-timestamp'),
      signature: header('webhook-signature'),
      body,
      genuine: isGenuine(merchant.secret, body, request.headers as Record<string, string>),
    })
    const { status, headers = {} } = answer(merchant.received.length)
    response.writeHead(status, headers).end()
  })
  return Object.assign(merchant, receiver)
}

function isGenuine(secret: string, body: Buffer, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}
