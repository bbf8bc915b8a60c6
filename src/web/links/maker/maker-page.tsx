import type { Currency } from '../../../domain/currencies.ts'
import type { Platform } from '../../../domain/platform.ts'
import { ErrorSummary, Field, type FormErrors } from '../../kit/field.tsx'
import { PostForm } from '../../kit/form.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { Main, renderSitePage } from '../../kit/site-page.tsx'
import type { Hint, LinkDraft } from '../link-draft.ts'
import { About, draftQuery, HowMuch, HowPaid, LiveHint, More, Preview } from './link-form.tsx'

export type MakerView = {
  readonly platform: Platform
  readonly draft: LinkDraft
  readonly currencies: readonly Currency[]
  readonly errors: FormErrors
  readonly hints: Hints
  /** Identifies the form, so that a form that is sent again creates no second link. */
  readonly once: string
  readonly testMode: boolean
}

export type Hints = { readonly amount: Hint; readonly wallet: Hint | null }

/** Renders the page on which a person without an account creates a link. */
export function renderMaker({ platform, draft, currencies, errors, hints, once, testMode }: MakerView): string {
  const children = (
    <Main>
      <PageHead
        title="Create a payment link"
        lead="Your buyer pays by bank, card, UPI or USDC. You receive USDC. No account needed."
      />
      {testMode && <p class="hint">This is a test deployment: no real money moves.</p>}
      <div class="cols maker">
        <PostForm action="/links" fields={{ once }} look="form" data-preview="/links/preview" data-hints="/links/hints">
          <ErrorSummary errors={errors} />
          <fieldset>
            <legend>Where should your money go?</legend>
            <Field
              name="wallet"
              label="Your wallet on Polygon"
              hint="USDC arrives here. Use an address only you control."
              errors={errors}
            >
              {(attributes) => (
                <textarea
                  {...attributes}
                  class="mono"
                  rows={2}
                  required
                  maxLength={200}
                  placeholder="0x…"
                  autocomplete="off"
                  spellcheck={false}
                  value={draft.wallet}
                />
              )}
            </Field>
            <LiveHint name="wallet" hint={errors['wallet'] === undefined ? hints.wallet : null} />
          </fieldset>
          <About draft={draft} errors={errors} />
          <HowMuch draft={draft} currencies={currencies} errors={errors} hint={hints.amount} />
          <HowPaid draft={draft} errors={errors} />
          <More draft={draft} errors={errors} />
          <div class="row">
            <button type="submit" class="button fill big">
              Create link
            </button>
            <p class="hint">You get a secret owner link to follow and stop it.</p>
          </div>
        </PostForm>
        <Preview src={`/links/preview?${draftQuery(draft)}`} />
      </div>
    </Main>
  )
  return renderSitePage({ platform, title: 'Create a payment link', children })
}
