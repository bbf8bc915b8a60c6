import { en } from './en.ts'

export type MessageKey = keyof typeof en

/** What every language must have: the keys of English. */
export type Catalogue = Readonly<Record<MessageKey, string>>

export type Locale = 'en'

const CATALOGUES: Readonly<Record<Locale, Catalogue>> = { en }

/** The `{names}` in a message. */
type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never

type Values<Key extends MessageKey> = { readonly [Name in Placeholders<(typeof en)[Key]>]: string }

/** Keys without placeholders take no values; the others take exactly theirs. */
type Arguments<Key extends MessageKey> = Placeholders<(typeof en)[Key]> extends never ? [] : [values: Values<Key>]

export type Translate = <Key extends MessageKey>(key: Key, ...values: Arguments<Key>) => string

export function translator(locale: Locale): Translate {
  const catalogue = CATALOGUES[locale]
  return (key, ...args) => {
    const values: Readonly<Record<string, string>> = args[0] ?? {}
    return catalogue[key].replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder)
  }
}
