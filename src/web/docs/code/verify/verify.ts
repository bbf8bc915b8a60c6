// npm install pinrail
import { type Event, verifyWebhook } from 'pinrail'

/** `body` has the bytes as they arrived; `secrets` has two during a rotation. Rejects if the webhook is not genuine. */
export function receiveWebhook(body: Uint8Array, headers: Headers, secrets: string[]): Promise<Event> {
  return verifyWebhook(body, headers, { secret: secrets })
}
