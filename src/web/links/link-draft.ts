/** The values of the link forms: text, as the person typed it. */
export type LinkDraft = {
  readonly wallet: string
  readonly title: string
  readonly description: string
  /** `open`: the buyer decides the amount. */
  readonly kind: 'fixed' | 'open'
  readonly amount: string
  readonly min_amount: string
  readonly max_amount: string
  readonly currency: string
  /** Empty if the buyer picks. */
  readonly provider: string
  readonly max_payments: string
  /** A day, as `2026-11-28`. */
  readonly expires_at: string
  readonly reference: string
  readonly success_url: string
  readonly inactive_message: string
  /** `on` if the query of the URL can fill it in; else empty. */
  readonly prefill_amount: string
  readonly prefill_reference: string
}

/** A hint at a field, updated while a person types. */
export type Hint = { readonly tone: 'quiet' | 'success' | 'problem'; readonly text: string }
