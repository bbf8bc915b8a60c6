/** What the forms for links are filled with: text, as people write it. */
export type LinkDraft = {
  readonly wallet: string
  readonly title: string
  readonly description: string
  /** A fixed amount, or one that the buyer decides. */
  readonly kind: 'fixed' | 'open'
  readonly amount: string
  readonly min_amount: string
  readonly max_amount: string
  readonly currency: string
  /** Empty: the buyer picks. */
  readonly provider: string
  readonly max_payments: string
  /** A day. */
  readonly expires_at: string
  readonly reference: string
  readonly success_url: string
  readonly inactive_message: string
  /** `on`: the query of the address may fill it in. */
  readonly prefill_amount: string
  readonly prefill_reference: string
}

/** Beside a field, while somebody types. */
export type Hint = { readonly tone: 'quiet' | 'success' | 'problem'; readonly text: string }
