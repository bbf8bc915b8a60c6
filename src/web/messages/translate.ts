import { IntlMessageFormat } from 'intl-messageformat'
import type { VNode } from 'preact'
import ar from './ar.json' with { type: 'json' }
import de from './de.json' with { type: 'json' }
import el from './el.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }
import es from './es.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import hi from './hi.json' with { type: 'json' }
import hu from './hu.json' with { type: 'json' }
import it from './it.json' with { type: 'json' }
import { LANGUAGES, LOCALES, type Locale } from './locales.ts'
import nl from './nl.json' with { type: 'json' }
import pl from './pl.json' with { type: 'json' }
import type { Placeholders } from './placeholders.ts'
import pt from './pt.json' with { type: 'json' }
import ro from './ro.json' with { type: 'json' }
import sv from './sv.json' with { type: 'json' }

export type MessageKey = keyof typeof en
type Catalog = Readonly<Record<MessageKey, string>>

export const CATALOGS: Readonly<Record<Locale, Catalog>> = {
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

/** Keys without placeholders take no values; the others take exactly theirs. */
type Arguments<Key extends MessageKey> = Key extends keyof Placeholders<string>
  ? [values: Placeholders<string>[Key]]
  : []

export type Translate = <Key extends MessageKey>(key: Key, ...values: Arguments<Key>) => string

/** Translates a message that contains elements, such as a time that the page's script rewrites. */
export type TranslateRich = <Key extends keyof Placeholders<string | VNode>>(
  key: Key,
  values: Placeholders<string | VNode>[Key],
) => (string | VNode)[]

type Message = string | IntlMessageFormat

/** Compiled when the process starts, so that no request waits for it. */
const MESSAGES = new Map(LOCALES.map((locale) => [locale, compiled(locale)]))

function compiled(locale: Locale): ReadonlyMap<MessageKey, Message> {
  const entries = Object.entries(CATALOGS[locale]) as [MessageKey, string][]
  return new Map(entries.map(([key, text]) => [key, compile(text, LANGUAGES[locale].formats)]))
}

function compile(text: string, formats: string): Message {
  return text.includes('{') ? new IntlMessageFormat(text, formats, undefined, { ignoreTag: true }) : text
}

export function translator(locale: Locale): { readonly t: Translate; readonly rich: TranslateRich } {
  const messages = MESSAGES.get(locale)
  const isolated = LANGUAGES[locale].dir === 'rtl'
  return {
    t: (key, ...args) => String(format(key, args[0] ?? {})),
    rich: (key, values) => {
      const formatted = format(key, values)
      return Array.isArray(formatted) ? (formatted as (string | VNode)[]) : [String(formatted)]
    },
  }

  function format(key: MessageKey, values: Readonly<Record<string, unknown>>): unknown {
    const message = messages?.get(key) ?? ''
    if (typeof message === 'string') return message
    return message.format<unknown>(isolated ? isolate(values) : values)
  }
}

/** First strong isolate and its end (Unicode UAX 9). */
const [ISOLATE, END] = ['\u2068', '\u2069']

/** Keeps the direction of a name in Latin letters, and the order of the text around it. */
function isolate(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isolated = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? `${ISOLATE}${value}${END}` : value,
  ])
  return Object.fromEntries(isolated) as Record<string, unknown>
}
