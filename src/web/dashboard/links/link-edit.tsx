import type { Currency } from '../../../domain/currencies.ts'
import type { PaymentLink } from '../../../domain/link/link.ts'
import { Curl, curlText } from '../../kit/curl.tsx'
import { ErrorSummary, type FormErrors } from '../../kit/field.tsx'
import { FormEnd, PostForm } from '../../kit/form.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import type { Hint, LinkDraft } from '../../links/link-draft.ts'
import { About, draftQuery, HowMuch, HowPaid, More, Preview } from '../../links/maker/link-form.tsx'
import { methodText, priceText } from '../../links/maker/link-words.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import { WalletNeeded } from '../wallet-needed.tsx'

export type NewLinkView = {
  readonly frame: Frame
  readonly draft: LinkDraft
  readonly currencies: readonly Currency[]
  readonly errors: FormErrors
  readonly hint: Hint
  /** Identifies the form, so that a form that is sent again creates no second link. */
  readonly once: string
  readonly hasWallet: boolean
  readonly publicUrl: string
}

const back = { href: '/dashboard/links', name: 'Payment links' }
const PREVIEW = '/dashboard/links/preview'

export function renderNewLink({ frame, hasWallet, once, publicUrl, ...form }: NewLinkView): string {
  const { draft, errors } = form
  const body = { title: 'October tasting box', amount: '64.00', currency: 'EUR' }
  return renderFramed({
    frame,
    title: 'New payment link',
    children: (
      <>
        <PageHead back={back} title="New payment link" />
        {!hasWallet && <WalletNeeded href="/dashboard/wallet">The link’s money goes there.</WalletNeeded>}
        <div class="cols maker">
          <PostForm
            action="/dashboard/links"
            csrf={frame.csrf}
            fields={{ once }}
            look="form"
            data-preview={PREVIEW}
            data-hints="/links/hints"
          >
            <ErrorSummary errors={errors} />
            <About draft={draft} errors={errors} />
            <HowMuch {...form} />
            <HowPaid draft={draft} errors={errors} />
            <More draft={draft} errors={errors} />
            <FormEnd back="/dashboard/links">Create link</FormEnd>
          </PostForm>
          <Preview src={`${PREVIEW}?${draftQuery(draft)}`} />
        </div>
        <Curl command={curlText(`${publicUrl}/v1/payment_links`, { method: 'POST', body })} />
      </>
    ),
  })
}

export type EditLinkView = {
  readonly frame: Frame
  readonly link: PaymentLink
  readonly draft: LinkDraft
  readonly errors: FormErrors
  readonly publicUrl: string
}

export function renderEditLink({ frame, link, draft, errors, publicUrl }: EditLinkView): string {
  const path = `/dashboard/links/${link.id}`
  const body = { title: 'November tasting box' }
  return renderFramed({
    frame,
    title: `Edit ${link.title}`,
    narrow: true,
    children: (
      <>
        <PageHead
          back={{ href: path, name: link.title }}
          title="Edit the link"
          lead={`${priceText(link)} · ${methodText(link)}. These cannot be changed, because buyers who have the link rely on them.`}
        />
        <PostForm action={path} csrf={frame.csrf} look="form card">
          <ErrorSummary errors={errors} />
          <About draft={draft} errors={errors} />
          <More draft={draft} errors={errors} open />
          <FormEnd back={path}>Save</FormEnd>
        </PostForm>
        <p class="hint">
          Another price? <a href={`/dashboard/links/new?copy=${link.id}`}>Make a new link like this one</a>
        </p>
        <Curl command={curlText(`${publicUrl}/v1/payment_links/${link.id}`, { method: 'PATCH', body })} />
      </>
    ),
  })
}
