import type { PaymentLink } from '../../../domain/link/link.ts'
import type { Platform } from '../../../domain/platform.ts'
import { Icon } from '../../kit/icon.tsx'
import { Note } from '../../kit/note.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { Secret } from '../../kit/secret.tsx'
import { Main, renderSitePage } from '../../kit/site-page.tsx'
import { methodText, priceText } from './link-words.tsx'
import { mailTo, Share } from './share.tsx'

export type MadeView = {
  readonly platform: Platform
  readonly link: PaymentLink
  readonly url: string
  readonly ownerUrl: string
}

/** Renders the only page that shows the secret URL. */
export function renderCreatedLink({ platform, link, url, ownerUrl }: MadeView): string {
  const children = (
    <Main narrow>
      <PageHead title="Your link is ready" lead={`${link.title} · ${priceText(link)} · ${methodText(link)}`} />
      <Share link={link} url={url} />
      <Secret
        id="owner"
        title="Keep your owner link"
        lead="It is shown only once. Anyone who has it can follow, pause and take over this payment link."
        label="Secret owner link"
        what="owner link"
        value={ownerUrl}
      >
        <p class="actions">
          <a class="button" href={mailTo(`Owner link: ${link.title}`, ownerUrl)}>
            <Icon name="mail" />
            Send to myself
          </a>
          <a class="button" href={new URL(ownerUrl).pathname}>
            Open owner page
          </a>
        </p>
      </Secret>
      <p class="hint">
        Money goes to <code>{link.wallet}</code>. This cannot be changed. If it is wrong, pause this link and create
        another one.
      </p>
      <Note
        tone="quiet"
        icon="team"
        strong="Want webhooks, notifications and a dashboard?"
        actions={
          <a class="button" href="/sign-in">
            Create an account
          </a>
        }
      >
        An account is free. You can add this link to it.
      </Note>
    </Main>
  )
  return renderSitePage({ platform, title: 'Your link is ready', children })
}
