import { LANGUAGES, LOCALES } from '../messages/locales.ts'
import type { Words } from '../messages/words.ts'
import { PostForm } from './form.tsx'
import { Icon } from './icon.tsx'

/** A choice of a language posts `at`, the path of the current page, to `action`. */
export type LanguageChange = { readonly action: string; readonly at: string }

/** Lists every language by its own name, as buttons of one form, so that the menu works without JavaScript. */
export function LanguageMenu({ action, at, words }: LanguageChange & { words: Words }) {
  return (
    <details class="languages">
      <summary>
        <Icon name="globe" />
        <span class="unseen">{words.t('page.language')}: </span>
        <span>{LANGUAGES[words.locale].name}</span>
        <Icon name="down" />
      </summary>
      <PostForm action={action} fields={{ at }} look="">
        {LOCALES.map((locale) => (
          <button
            key={locale}
            type="submit"
            name="language"
            value={locale}
            lang={locale}
            dir={LANGUAGES[locale].dir}
            aria-current={locale === words.locale ? 'true' : undefined}
          >
            {LANGUAGES[locale].name}
          </button>
        ))}
      </PostForm>
    </details>
  )
}
