import type { PaymentLink } from '../../../domain/link/link.ts'
import { Card } from '../../kit/card.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { PostButton } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { priceText } from '../../links/maker/link-words.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import { Address } from '../settings/address.tsx'

export type ClaimView = {
  readonly frame: Frame
  /** Null if the ticket does not work. */
  readonly link: PaymentLink | null
  readonly action: string
}

export function renderClaim({ frame, link, action }: ClaimView): string {
  if (link === null) return renderNothing(frame)
  return renderFramed({
    frame,
    title: 'Add a link to this account',
    narrow: true,
    children: (
      <>
        <PageHead title={`Add “${link.title}” to ${frame.account}?`} />
        <Card id="link" title={link.title} lead={priceText(link)}>
          <Address label="Its money goes to this wallet; that cannot be changed" address={link.wallet ?? ''} />
          <Facts>
            <Fact name="Code">{link.code}</Fact>
            <Fact name="Payments so far">{link.paymentsCount}</Fact>
          </Facts>
          <Note tone="wait" icon="warning" strong="Is this wallet yours?">
            Buyers will see “{frame.account}” on the page of the link. Whoever holds the wallet gets the money. Nobody
            can change the wallet of a link.
          </Note>
          <div class="row">
            <PostButton action={action} csrf={frame.csrf} look="button fill big">
              Add this link to the account
            </PostButton>
            <a class="button text" href="/dashboard">
              Cancel
            </a>
          </div>
        </Card>
      </>
    ),
  })
}

function renderNothing(frame: Frame): string {
  return renderFramed({
    frame,
    title: 'No link to add',
    narrow: true,
    children: (
      <>
        <PageHead title="There is no link to add here" />
        <p>This page works once, for one hour. Open your owner link again, and press the button there.</p>
      </>
    ),
  })
}
