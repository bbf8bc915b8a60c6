import { createHmac, timingSafeEqual } from 'node:crypto'

/** `body` has the bytes as they arrived; `secrets` has two during a rotation. Throws if the webhook is not genuine. */
export function verifyWebhook(body: Buffer, headers: Record<string, string | undefined>, secrets: string[]) {
  const id = headers['webhook-id'] ?? ''
  const timestamp = headers['webhook-timestamp'] ?? ''
  const signatures = (headers['webhook-signature'] ?? '').split(' ')
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) throw new Error('the timestamp is too far off')
  const isGenuine = secrets.some((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
    const expected = Buffer.from(`v1,${digest}`)
    return signatures.some((given) => given.length === expected.length && timingSafeEqual(Buffer.from(given), expected))
  })
  if (!isGenuine) throw new Error('no signature matches')
  return JSON.parse(body.toString('utf8'))
}
