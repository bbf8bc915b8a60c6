import { COUNTRY_CODES } from '../../../domain/countries.ts'
import { FillButton, QuietLink } from '../../kit/button.tsx'
import { Field } from '../../kit/field.tsx'
import { PostForm } from '../../kit/form.tsx'
import { Head } from '../../kit/head.tsx'
import { Icon } from '../../kit/icon.tsx'
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
      <PostForm
        action={`${checkout.path}/country`}
        fields={choice === null ? {} : { chosen: `${choice.provider}.${choice.method}` }}
        look="form"
      >
        <Field name="country" label={t('country.label')}>
          {(attributes) => (
            <select {...attributes} required>
              <option value="">{t('country.choose')}</option>
              {names.map(({ country, name }) => (
                <option key={country} value={country} selected={country === code}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <FillButton>{t('country.save')}</FillButton>
      </PostForm>
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
