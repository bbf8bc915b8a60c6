import type http from 'node:http'
import { startReceiver } from '../webhooks/listeners.ts'

/** A Bot API server on this machine: https://core.telegram.org/bots/api#getupdates, with its rules. */
export type BotApi = {
  readonly url: string
  readonly calls: { readonly method: string; readonly offset: number | null }[]
  /** A person writes to the bot. */
  say(text: string, chat?: object): void
  /** The next response, instead of the usual one. */
  refuse: { readonly status: number; readonly parameters?: object } | null
  /** A week without messages: the next update has any number. */
  renumber(from: number): void
  /** Updates that are not confirmed. */
  readonly left: () => number
  close(): Promise<void>
}

export async function startBotApi(token: string): Promise<BotApi> {
  let updates: { readonly update_id: number; readonly message: object }[] = []
  let next = 700_000_000
  let reading = 0
  const state: Pick<BotApi, 'calls' | 'refuse'> = { calls: [], refuse: null }
  const answer = (response: http.ServerResponse, status: number, body: object): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const receiver = await startReceiver(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { offset?: number; limit?: number }
    const method = (request.url ?? '').replace(`/bot${token}/`, '')
    state.calls.push({ method, offset: body.offset ?? null })
    if (state.refuse !== null) {
      const { status, parameters } = state.refuse
      return answer(response, status, { ok: false, error_code: status, description: 'Refused', parameters })
    }
    if (method === 'getMe') return answer(response, 200, { ok: true, result: { id: 1, username: 'pinrail_test_bot' } })
    if (method !== 'getUpdates') return answer(response, 404, { ok: false, error_code: 404, description: 'Not Found' })
    // Two concurrent reads are refused, as by Telegram.
    if (reading > 0) return answer(response, 409, { ok: false, error_code: 409, description: 'Conflict' })
    reading += 1
    // An offset confirms everything before it.
    updates = updates.filter((update) => update.update_id >= (body.offset ?? 0))
    await new Promise((resolve) => setImmediate(resolve))
    reading -= 1
    return answer(response, 200, { ok: true, result: updates.slice(0, body.limit ?? 100) })
  })
  return Object.assign(state, {
    url: `http://${receiver.target}`,
    say: (text: string, chat: object = { id: 4711, type: 'private', first_name: 'Kari', username: 'kari' }) => {
      next += 1
      const message = { message_id: next, date: 1, chat, text }
      updates.push({ update_id: next, message })
    },
    renumber: (from: number) => {
      next = from
    },
    left: () => updates.length,
    close: () => receiver.close(),
  })
}
