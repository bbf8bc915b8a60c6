import { readFileSync } from 'node:fs'
import { receiveWebhook } from '../../../src/web/docs/code/verify/verify.ts'

for (const line of readFileSync(0, 'utf8').trimEnd().split('\n')) {
  const [id = '', timestamp = '', signature = '', body = '', secrets = ''] = line.split('\t')
  const headers = new Headers({ 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature })
  try {
    await receiveWebhook(Buffer.from(body, 'base64'), headers, secrets.split(' '))
    console.log('accepted')
  } catch (error) {
    // The codes of the other languages have two reasons.
    const isLate = error instanceof Error && error.message.includes('its time is')
    console.log(isLate ? 'the timestamp is too far off' : 'no signature matches')
  }
}
