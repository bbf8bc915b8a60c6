import { IntlMessageFormat } from 'intl-messageformat'
import type { VNode } from 'preact'
import { ar } from './ar/index.ts'
import { de } from './de/index.ts'
import { el } from './el/index.ts'
import { en } from './en/index.ts'
import { es } from './es/index.ts'
import { fr } from './fr/index.ts'
import { hi } from './hi/index.ts'
import { hu } from './hu/index.ts'
import { it } from './it/index.ts'
import { LANGUAGES, LOCALES, type Locale } from './locales.ts'
import { nl } from './nl/index.ts'
import { pl } from './pl/index.ts'
import { pt } from './pt/index.ts'
import { ro } from './ro/index.ts'
import { sv } from './sv/index.ts'
import type { Catalogue, MessageKey, NumberNames, TextNames } from './translation.ts'

export type { MessageKey }

/** Every text of every language. */
export const CATALOGUES: Readonly<Record<Locale, Catalogue>> = {
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

type English<Key extends MessageKey> = (typeof en)[Key]
type Values<Key extends MessageKey, Text> = { readonly [Name in TextNames<English<Key>>]: Text } & {
  readonly [Name in NumberNames<English<Key>>]: number
}

/** Keys without placeholders take no values; the others take exactly theirs. */
type Arguments<Key extends MessageKey> = TextNames<English<Key>> | NumberNames<English<Key>> extends never
  ? []
  : [values: Values<Key, string>]

export type Translate = <Key extends MessageKey>(key: Key, ...values: Arguments<Key>) => string

/** The same for a message that holds elements, such as a moment that the script of the page corrects. */
export type TranslateRich = <Key extends MessageKey>(
  key: Key,
  values: Values<Key, string | VNode>,
) => (string | VNode)[]

type Message = string | IntlMessageFormat

/** Compiled once, when the process starts: no request waits for it. */
const MESSAGES = new Map(LOCALES.map((locale) => [locale, compiled(locale)]))

function compiled(locale: Locale): ReadonlyMap<MessageKey, Message> {
  const entries = Object.entries(CATALOGUES[locale]) as [MessageKey, string][]
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

/** A name in Latin letters keeps its own direction, and what stands around it stays where it belongs. */
function isolate(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isolated = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? `${ISOLATE}${value}${END}` : value,
  ])
  return Object.fromEntries(isolated) as Record<string, unknown>
}
