import { COUNTRY_CODES } from '../../../domain/countries.ts'
import { Icon } from '../../look/icons.tsx'
import { Head, QuietLink } from '../../look/parts.tsx'
import { getChoicePath } from '../checkout.ts'
import { countryPath } from '../panel.tsx'
import { countryName, type Shown } from '../shown.tsx'

/** The form that changes the buyer's country. It keeps the offer that the buyer was reading. */
export function Country({ checkout, words }: Shown) {
  const { t } = words
  const { code } = checkout.country
  const { choice } = checkout.asked
  const names = COUNTRY_CODES.map((country) => ({ country, name: words.country(country) }))
  const { compare } = new Intl.Collator(words.locale)
  names.sort((a, b) => compare(a.name, b.name))
  return (
    <>
      <Head icon="globe" title={t('country.heading')} lead={t('country.lead')} />
      <form class="country-form" method="post" action={`${checkout.path}/country`}>
        {choice !== null && <input type="hidden" name="chosen" value={`${choice.provider}.${choice.method}`} />}
        <label>
          <span class="label">{t('country.label')}</span>
          <select name="country" required>
            <option value="">{t('country.choose')}</option>
            {names.map(({ country, name }) => (
              <option key={country} value={country} selected={country === code}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <p class="act">
          <button type="submit" class="button fill">
            <span>{t('country.save')}</span>
            <Icon name="arrow" points />
          </button>
        </p>
      </form>
      <QuietLink href={choice === null ? checkout.path : getChoicePath(checkout.path, choice)}>
        {t('country.keep')}
      </QuietLink>
    </>
  )
}

export function CountryLine({ checkout, words }: Shown) {
  const { t } = words
  const country = countryName(checkout, words)
  return (
    <p class="country">
      <Icon name="globe" />
      <span>{country === null ? t('country.unknown') : t('country.paying_from', { country })}</span>{' '}
      <a href={countryPath(checkout, null)}>{t(country === null ? 'country.say' : 'country.change')}</a>
    </p>
  )
}
