import { type Request, Router } from 'express'
import { z } from 'zod'
import { plural } from '../../domain/plural.ts'
import { html, page } from '../html.ts'
import { openJournal } from '../journal.ts'
import { formatTime } from './deliveries-page.ts'
import { createLive, LIVE_SCRIPT_PATH, showLive } from './live.ts'

const messageSchema = z.object({ received_at: z.iso.datetime(), from: z.enum(['Slack', 'Discord']), text: z.string() })
export type ChatMessage = z.infer<typeof messageSchema>

/** Maximum number of messages on the page. The JSON has all. */
const SHOWN = 50

export type Chat = {
  /** `/chat` for people, `/chats` for programs, and the URLs at which Slack and Discord receive messages. */
  readonly router: Router
  close: () => Promise<void>
}

const slackBody = z.object({ blocks: z.array(z.object({ text: z.object({ text: z.string() }) })).min(1) })
const discordBody = z.object({ content: z.string() })

/** Stands in for Slack and Discord on this machine: receives messages at incoming webhooks, and shows them. */
export async function openChat({ dataFile }: { readonly dataFile: string }): Promise<Chat> {
  const messages: ChatMessage[] = []
  const journal = await openJournal(dataFile, messageSchema, (message) => {
    messages.push(message)
  })
  const live = createLive()
  const keep = async (from: ChatMessage['from'], text: string): Promise<void> => {
    await journal.append({ received_at: new Date().toISOString(), from, text })
    live.notify()
  }
  const router = Router()
  router.post('/services/:team/:app/:secret', async (request, response) => {
    const sent = slackBody.safeParse(readJson(request))
    if (!sent.success) return void response.status(400).type('text').send('invalid_payload')
    await keep('Slack', unescaped(sent.data.blocks.map(({ text }) => text.text).join('\n')))
    response.type('text').send('ok')
  })
  router.post('/api/webhooks/:id/:secret', async (request, response) => {
    const sent = discordBody.safeParse(readJson(request))
    if (!sent.success) return void response.status(400).json({ code: 50_006, message: 'Cannot send an empty message' })
    await keep('Discord', sent.data.content)
    response.json({ id: String(messages.length), content: sent.data.content })
  })
  const { settled } = journal
  showLive(router, live, { list: '/chats', page: '/chat', all: messages, settled, render: () => chatPage(messages) })
  return { router, close: () => journal.close() }
}

function readJson(request: Request): unknown {
  try {
    return JSON.parse(Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '')
  } catch {
    return undefined
  }
}

/** Returns text as Slack shows it: https://api.slack.com/reference/surfaces/formatting#escaping */
const unescaped = (text: string): string =>
  text.replaceAll('\u200b', '').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

function chatPage(messages: readonly ChatMessage[]): string {
  const first = Math.max(0, messages.length - SHOWN)
  const items = messages.slice(first).map(
    ({ from, text, received_at: at }, index) => html`<li id="message-${(first + index).toString()}">
<p class="soft">${from} · ${formatTime(at)}</p>
<p class="mail">${text}</p>
</li>`,
  )
  const count = plural(messages.length, 'message')
  return page(
    'Chat',
    html`<h1>Chat</h1>
<p>What a team reads in Slack or Discord: <b data-count role="status">${count}</b>, the latest first. Nothing leaves this machine. As JSON: <a href="/chats">/chats</a></p>
<ol class="deliveries" data-live="/chats/live">${items.toReversed()}</ol>`,
    LIVE_SCRIPT_PATH,
  )
}
