import { readFileSync } from 'node:fs'
import { verifyWebhook } from '../../../src/web/docs/code/verify/verify.ts'

for (const line of readFileSync(0, 'utf8').trimEnd().split('\n')) {
  const [id, timestamp, signature, body = '', secrets = ''] = line.split('\t')
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  try {
    verifyWebhook(Buffer.from(body, 'base64'), headers, secrets.split(' '))
    console.log('accepted')
  } catch (error) {
    console.log(error instanceof Error ? error.message : error)
  }
}
