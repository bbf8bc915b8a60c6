/** The company that runs the deployment. Pages, mails and receipts show what is not null. */
export type Platform = {
  readonly name: string
  /** The name under which the logo is served; null without a logo. */
  readonly logo: string | null
  readonly imprint: string | null
  readonly terms: string | null
  readonly privacy: string | null
  readonly status: string | null
  /** An e-mail address. */
  readonly support: string | null
}

/** In the order in which they are shown. */
const PLACES = ['imprint', 'terms', 'privacy', 'status', 'support'] as const

export type PlatformPlace = (typeof PLACES)[number]

/** A URL, or the e-mail address of the support. */
export type PlatformAddress = { readonly place: PlatformPlace; readonly address: string }

export function listAddresses(platform: Platform): PlatformAddress[] {
  return PLACES.flatMap((place) => {
    const address = platform[place]
    return address === null ? [] : [{ place, address }]
  })
}
