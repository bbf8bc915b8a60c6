import { FormEnd, PostForm } from '../../kit/form.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { Time } from '../../kit/time.tsx'
import { type Frame, renderFramed } from '../frame.tsx'

export type TelegramView = {
  readonly frame: Frame
  /** The bot's name, without @. */
  readonly bot: string
}

const back = { href: '/dashboard/notifications', name: 'Notifications' }
const title = 'Connect Telegram'

export function renderTelegram({ frame, bot }: TelegramView): string {
  return renderFramed({
    frame,
    title,
    narrow: true,
    children: (
      <>
        <PageHead back={back} title={title} lead={`Our bot @${bot} posts to one chat: yours, or a group.`} />
        <PostForm action="/dashboard/notifications/telegram" csrf={frame.csrf} look="form card">
          <ol class="stack tight">
            <li>1. You get a link here. It works once, for 15 minutes.</li>
            <li>2. Open it on the device that has Telegram, and press Start.</li>
            <li>3. The bot confirms in the chat that it is connected.</li>
          </ol>
          <p class="soft">Anyone who opens the link gets your notifications. Do not share it.</p>
          <FormEnd back="/dashboard/notifications">Get the link</FormEnd>
        </PostForm>
      </>
    ),
  })
}

type LinkView = TelegramView & {
  readonly token: string
  /** ISO 8601. */
  readonly expiresAt: string
}

/** Renders the page with the token. Only the response to the form contains the token; no URL of the dashboard does. */
export function renderTelegramLink({ frame, bot, token, expiresAt }: LinkView): string {
  return renderFramed({
    frame,
    title,
    narrow: true,
    children: (
      <>
        <PageHead back={back} title={title} />
        <section class="card stack" aria-labelledby="open">
          <h2 id="open">Open Telegram and press Start</h2>
          <p>
            The link works once, until <Time at={expiresAt} />.
          </p>
          <div class="row">
            <a class="button fill big" href={`https://t.me/${bot}?start=${token}`} target="_blank" rel="noreferrer">
              Open my chat with @{bot}
            </a>
            <a class="button" href={`https://t.me/${bot}?startgroup=${token}`} target="_blank" rel="noreferrer">
              Add the bot to a group
            </a>
          </div>
          <p class="soft">If no button works, send this to @{bot} in Telegram:</p>
          <p>
            <code>/start {token}</code>
          </p>
        </section>
        <section class="card stack" aria-labelledby="then">
          <h2 id="then">Then</h2>
          <p>The chat gets a message within seconds. Then it appears in your list.</p>
          <div class="row">
            <a class="button" href="/dashboard/notifications">
              View the list
            </a>
          </div>
        </section>
      </>
    ),
  })
}
