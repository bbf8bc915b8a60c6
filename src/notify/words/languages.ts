import { IntlMessageFormat } from 'intl-messageformat'
import type { NotificationLanguage } from '../../domain/notification/channel.ts'
import ar from './ar.json' with { type: 'json' }
import de from './de.json' with { type: 'json' }
import el from './el.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }
import es from './es.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import hi from './hi.json' with { type: 'json' }
import hu from './hu.json' with { type: 'json' }
import it from './it.json' with { type: 'json' }
import nl from './nl.json' with { type: 'json' }
import pl from './pl.json' with { type: 'json' }
import pt from './pt.json' with { type: 'json' }
import ro from './ro.json' with { type: 'json' }
import sv from './sv.json' with { type: 'json' }

type Happened = keyof typeof en.happened

/** Sentences of the mails that people of an account get. Names, addresses and times are inserted unchanged. */
export type MailKey = keyof typeof en.mail

/**
 * The texts of a channel in one language, with the keys of English. `arrives` follows an amount of USDC, `stop`
 * precedes the link that stops a change, `says` precedes the reason that a channel gave; `other` is for a kind without
 * words. `many`, `more` and `mail` are ICU messages.
 */
type Words = typeof en

export const WORDS: Readonly<Record<NotificationLanguage, Words>> = {
  en,
  de,
  fr,
  es,
  it,
  nl,
  pl,
  pt,
  ro,
  hu,
  sv,
  el,
  hi,
  ar,
}

/** Numbers use Latin digits in every language, as amounts do. */
const FORMATS: Partial<Record<NotificationLanguage, string>> = { pt: 'pt-PT', ar: 'ar-u-nu-latn', hi: 'hi-u-nu-latn' }

/** Sentences of the mails that buyers get. */
export type BuyerMailKey = keyof typeof en.buyer

const NAMES = ['account', 'address', 'title', 'wallet', 'name', 'kind', 'key', 'email', 'ip', 'url'] as const
const NOTHING = Object.fromEntries(NAMES.map((name) => [name, '']))

function formatText(language: NotificationLanguage, text: string, values: Readonly<Record<string, string | number>>) {
  return String(
    new IntlMessageFormat(text, FORMATS[language] ?? language, undefined, { ignoreTag: true }).format(values),
  )
}

export type BuyerSpeech = (
  key: BuyerMailKey,
  values?: { readonly merchant: string; readonly amount?: string },
) => string

export function createBuyerSpeech(language: NotificationLanguage): BuyerSpeech {
  const { buyer } = WORDS[language]
  return (key, values) => formatText(language, buyer[key], { merchant: '', amount: '', ...values })
}

/** Returns the texts of a language, with functions that fill in values. */
export function createSpeech(language: NotificationLanguage) {
  const { happened, mail, many, more, ...rest } = WORDS[language]
  const counted = (text: string) => (count: number) => formatText(language, text, { count })
  return {
    ...rest,
    many: counted(many),
    more: counted(more),
    /** Returns a sentence of a mail. A value that is not given leaves its place empty. */
    mail: (key: MailKey, values: Readonly<Record<string, string>> = {}): string =>
      formatText(language, mail[key], { ...NOTHING, ...values }),
    translateName: (kind: string): string => (Object.hasOwn(happened, kind) ? happened[kind as Happened] : rest.other),
  }
}

export type Speech = ReturnType<typeof createSpeech>
