import { PostForm } from '../kit/form.tsx'
import { Icon } from '../kit/icon.tsx'
import { LANGUAGES, LOCALES } from '../messages/locales.ts'
import type { Words } from '../messages/words.ts'
import type { Checkout, Device } from './checkout.ts'
import { BAR_ACTIONS, BAR_SKIPS, type BarAction } from './sandbox.ts'

/**
 * The bar with which the merchant's developer simulates the partner and the buyer. It is a tool and not part of the
 * page, so it keeps its own colors and is in English. Each action posts a form, so the bar works without JavaScript.
 */

const ACTIONS: Readonly<Record<BarAction, string>> = {
  pay: 'Pay',
  decline: 'Decline',
  require_verification: 'Identity check',
  hold: 'Hold',
  late: 'Pay late',
  under: 'Pay less',
  over: 'Pay more',
  twice: 'Pay twice',
  partner_down: 'Partner down',
}

const SKIPS: Readonly<Record<(typeof BAR_SKIPS)[number], string>> = {
  60: '1 minute',
  3600: '1 hour',
  86400: '1 day',
  604800: '7 days',
}

const DEVICES: Readonly<Record<Device, string>> = { desktop: 'Desktop', ios: 'iPhone', android: 'Android' }

/** Countries whose offers differ. The checkout's country form has the others. */
const COUNTRIES: Readonly<Record<string, string>> = {
  DE: 'Germany',
  NO: 'Norway',
  US: 'United States',
  IN: 'India',
  BR: 'Brazil',
}

export function SandboxBar({ checkout, words }: { checkout: Checkout; words: Words }) {
  const { sandbox, path, country } = checkout
  if (sandbox === null) return null
  const action = `${path}/sandbox`
  const here = country.code !== null && !(country.code in COUNTRIES) ? { [country.code]: country.code } : {}
  return (
    <details class="sandbox" lang="en" open={sandbox.open}>
      <summary>
        Simulate <Icon name="down" />
      </summary>
      {sandbox.note !== null && (
        <p role="status" dir="ltr">
          {sandbox.note}
        </p>
      )}
      <PostForm action={action} look="">
        <fieldset>
          <legend>The partner</legend>
          {BAR_ACTIONS.map((name) => (
            <button key={name} type="submit" name="do" value={name} aria-pressed={pressed(name, sandbox.isDown)}>
              {ACTIONS[name]}
            </button>
          ))}
        </fieldset>
      </PostForm>
      <PostForm action={action} look="">
        <fieldset>
          <legend>Skip time</legend>
          {BAR_SKIPS.map((seconds) => (
            <button key={seconds} type="submit" name="skip" value={seconds}>
              {SKIPS[seconds]}
            </button>
          ))}
        </fieldset>
      </PostForm>
      <PostForm action={action} look="">
        <fieldset>
          <legend>The buyer</legend>
          <Choice
            name="country"
            label="Country"
            chosen={country.code ?? ''}
            options={{ '': 'Unknown', ...here, ...COUNTRIES }}
          />
          <Choice name="device" label="Device" chosen={sandbox.device ?? ''} options={{ '': 'This one', ...DEVICES }} />
          <Choice name="language" label="Language" chosen={words.locale} options={LANGUAGE_NAMES} />
          <button type="submit">Apply</button>
        </fieldset>
      </PostForm>
    </details>
  )
}

const LANGUAGE_NAMES = Object.fromEntries(LOCALES.map((locale) => [locale, LANGUAGES[locale].name]))

function pressed(action: BarAction, isDown: boolean): 'true' | 'false' | undefined {
  if (action !== 'partner_down') return undefined
  return isDown ? 'true' : 'false'
}

type ChoiceProps = {
  readonly name: string
  readonly label: string
  readonly chosen: string
  readonly options: Readonly<Record<string, string>>
}

function Choice({ name, label, chosen, options }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select name={name}>
        {Object.entries(options).map(([value, text]) => (
          <option key={value} value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
