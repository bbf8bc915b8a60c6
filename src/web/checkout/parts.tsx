import type { ComponentChildren } from 'preact'
import { encode } from 'uqr'
import { COUNTRY_CODES } from '../../domain/countries.ts'
import type { FailureCode } from '../../domain/payment/partner.ts'
import type { Words } from '../messages/words.ts'
import type { BuyerCountry, Checkout } from './checkout.ts'

/** The props of a component of a checkout page. */
export type Shown = { readonly checkout: Checkout; readonly words: Words }

/** Space around a QR code, in modules: ISO/IEC 18004 asks for four. */
const QUIET_ZONE = 4

/** A QR code as one path, with a name that says what it holds. */
export function Qr({ text, name }: { text: string; name: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE })
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg class="qr" role="img" aria-label={name} viewBox={`0 0 ${size} ${size}`} shape-rendering="crispEdges">
      <rect class="qr-paper" width={size} height={size} />
      <path class="qr-ink" d={path} />
    </svg>
  )
}

/** A link as text that can be selected. With JavaScript, a button copies it. */
export function CopyField({ label, value, words }: { label: string; value: string; words: Words }) {
  return (
    <div class="copy" data-copy>
      <label>
        <span>{label}</span>
        <input type="text" readOnly value={value} dir="ltr" />
      </label>
      <button type="button" class="button quiet" hidden data-done={words.t('copy.done')}>
        {words.t('copy.button')}
      </button>
      <span role="status" class="copied" />
    </div>
  )
}

/** An important sentence, set apart from the others. */
export function Notice({ kind, children }: { kind: 'info' | 'problem'; children: ComponentChildren }) {
  return (
    <p class={`notice ${kind}`} role={kind === 'problem' ? 'alert' : undefined}>
      {children}
    </p>
  )
}

export function DeclinedNotice({ failure, words }: { failure: FailureCode; words: Words }) {
  return (
    <div class="notice problem" role="alert">
      <p>{words.t(`declined.${failure}`)}</p>
      <p>{words.t('confirm.declined')}</p>
    </div>
  )
}

/** The buyer's country, with a form to correct it. */
export function CountryChooser({ checkout, words }: Shown) {
  const { t } = words
  const { code } = checkout.country
  const names = COUNTRY_CODES.map((country) => ({ country, name: words.country(country) }))
  names.sort((a, b) => a.name.localeCompare(b.name, words.locale))
  return (
    <details class="country">
      <summary>
        <span>{code === null ? t('country.unknown') : t('country.paying_from', { country: words.country(code) })}</span>
        {code !== null && <span class="link">{t('country.change')}</span>}
      </summary>
      <form method="post" action={`${checkout.path}/country`}>
        <label>
          <span>{t('country.label')}</span>
          <select name="country" required>
            <option value="">{t('country.choose')}</option>
            {names.map(({ country, name }) => (
              <option key={country} value={country} selected={country === code}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" class="button quiet">
          {t('country.save')}
        </button>
      </form>
    </details>
  )
}

export function countryName(country: BuyerCountry, words: Words): string | null {
  return country.code === null ? null : words.country(country.code)
}

/** A link back to the shop; nothing when the merchant gave no URL. */
export function ShopLink({
  href,
  checkout,
  words,
  primary = false,
}: Shown & { href: string | null; primary?: boolean }) {
  const address = webAddress(href)
  if (address === null) return null
  return (
    <a class={primary ? 'button primary' : 'button'} href={address}>
      {words.t('shop.back', { merchant: checkout.merchantName })}
    </a>
  )
}

/** The URL when it is http or https; null for `javascript:` and other schemes. */
export function webAddress(href: string | null): string | null {
  return href !== null && /^https?:\/\//i.test(href) ? href : null
}

export function Spinner() {
  return <span class="spinner" aria-hidden="true" />
}
