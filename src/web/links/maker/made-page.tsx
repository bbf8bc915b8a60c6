import type { PaymentLink } from '../../../domain/link/link.ts'
import { renderSite } from '../../site/document.tsx'
import { SiteIcon } from '../../site/icons.tsx'
import { Head, Note } from '../../site/parts.tsx'
import { methodText, priceText } from './link-words.tsx'
import { CopyButton, mailTo, Share } from './share.tsx'

export type MadeView = {
  readonly link: PaymentLink
  readonly url: string
  /** The secret URL of the owner's page. */
  readonly ownerUrl: string
}

/** Renders the only page that shows the secret URL. */
export function renderMade({ link, url, ownerUrl }: MadeView): string {
  return renderSite(
    'Your link is ready',
    'site-page',
    <main id="main" class="page mid" tabIndex={-1}>
      <div class="in">
        <Head title="Your link is ready" lead={`${link.title} · ${priceText(link)} · ${methodText(link)}`} />
        <Share link={link} url={url} />
        <section class="card secret" aria-labelledby="own">
          <header>
            <div>
              <h2 id="own">
                <SiteIcon name="key" />
                Keep your owner link
              </h2>
              <p>It is shown only once. Anybody who has it can follow, pause and take over this payment link.</p>
            </div>
          </header>
          <div class="field">
            <label for="owner">Secret owner link</label>
            <div class="inline">
              <input id="owner" class="mono" readOnly value={ownerUrl} autocomplete="off" spellcheck={false} />
              <CopyButton value={ownerUrl} look="btn fill" name="Copy" of="the owner link" />
            </div>
          </div>
          <p class="actions">
            <a class="btn" href={mailTo(`Owner link: ${link.title}`, ownerUrl)}>
              <SiteIcon name="mail" />
              Send to myself
            </a>
            <a class="btn" href={new URL(ownerUrl).pathname}>
              Open owner page
            </a>
          </p>
        </section>
        <p class="hint">
          Money goes to <code class="break">{link.wallet}</code>. This cannot be changed. If it is wrong, pause this
          link and create another one.
        </p>
        <Note
          tone="quiet"
          icon="team"
          strong="Want webhooks, notifications and a dashboard?"
          actions={
            <a class="btn" href="/sign-in">
              Create an account
            </a>
          }
        >
          <p>An account is free. You can add this link to it.</p>
        </Note>
      </div>
    </main>,
  )
}
