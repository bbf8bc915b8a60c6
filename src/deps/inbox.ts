import type { LocalInbox } from '../api/routes/v1/webhooks/endpoints.ts'
import { send } from '../partners/http.ts'

const TIMEOUT_MS = 3000

/** Throws if the inbox does not respond. */
export function createLocalInbox(url: string): LocalInbox {
  return {
    url,
    handOver: async (secret) => {
      const headers = { 'content-type': 'application/json' }
      const call = { to: 'the inbox', method: 'POST', url: `${url}/secrets`, headers, body: JSON.stringify({ secret }) }
      const answer = await send({ ...call, method: 'POST' }, AbortSignal.timeout(TIMEOUT_MS))
      if (answer.status !== 204) throw new Error(`the inbox: HTTP ${answer.status}`)
    },
  }
}
