import { IntlMessageFormat } from 'intl-messageformat'
import type { NotificationLanguage } from '../../domain/notification/channel.ts'
import { DE } from './germanic/de.ts'
import { EN } from './germanic/en.ts'
import { NL } from './germanic/nl.ts'
import { SV } from './germanic/sv.ts'
import { AR } from './others/ar.ts'
import { EL } from './others/el.ts'
import { HI } from './others/hi.ts'
import { HU } from './others/hu.ts'
import { PL } from './others/pl.ts'
import { ES } from './romance/es.ts'
import { FR } from './romance/fr.ts'
import { IT } from './romance/it.ts'
import { PT } from './romance/pt.ts'
import { RO } from './romance/ro.ts'
import type { Happened, MailKey, Words } from './words.ts'

/** What channels are told, by language. */
export const WORDS: Readonly<Record<NotificationLanguage, Words>> = {
  en: EN,
  de: DE,
  fr: FR,
  es: ES,
  it: IT,
  nl: NL,
  pl: PL,
  pt: PT,
  ro: RO,
  hu: HU,
  sv: SV,
  el: EL,
  hi: HI,
  ar: AR,
}

/** Numbers are those of Latin script in every language, as in amounts. */
const FORMATS: Partial<Record<NotificationLanguage, string>> = { pt: 'pt-PT', ar: 'ar-u-nu-latn', hi: 'hi-u-nu-latn' }

/** What stands in sentences of mails. */
const NAMES = ['account', 'address', 'title', 'wallet', 'name', 'kind', 'key', 'email', 'ip', 'url'] as const
const NOTHING = Object.fromEntries(NAMES.map((name) => [name, '']))

/** The words of a language, ready to be said. */
export function wordsOf(language: NotificationLanguage) {
  const { happened, mail, many, more, ...rest } = WORDS[language]
  const said = (text: string, values: Readonly<Record<string, string | number>>): string =>
    String(new IntlMessageFormat(text, FORMATS[language] ?? language, undefined, { ignoreTag: true }).format(values))
  const counted = (text: string) => (count: number) => said(text, { count })
  return {
    ...rest,
    many: counted(many),
    more: counted(more),
    /** A sentence of a mail. A value that is not given leaves its place empty. */
    mail: (key: MailKey, values: Readonly<Record<string, string>> = {}): string =>
      said(mail[key], { ...NOTHING, ...values }),
    /** Of an event or a notice. */
    nameOf: (kind: string): string => (Object.hasOwn(happened, kind) ? happened[kind as Happened] : rest.other),
  }
}

export type Speech = ReturnType<typeof wordsOf>
