import type { en } from './en/index.ts'

export type MessageKey = keyof typeof en

/** What every language has: the keys of English. */
export type Catalogue = Readonly<Record<MessageKey, string>>

/** What stands in the braces of an ICU message, as far as the first that closes. */
type Inside<Text extends string> = Text extends `${string}{${infer First}}${infer Rest}` ? First | Inside<Rest> : never

/** The `{names}` in a message whose value is a text. Texts within a plural hold a space or a `#`, and are no names. */
export type TextNames<Text extends string> = Exclude<Inside<Text>, `${string}${' ' | '#' | ','}${string}`>

/** The names in a message whose value is a number: `{count, plural, …}`. */
export type NumberNames<Text extends string> =
  Inside<Text> extends infer Each ? (Each extends `${infer Name}, plural,${string}` ? Name : never) : never

/** In another language a text within a plural may be one word. It is no name, because English has none like it. */
type NamesOf<Text extends string> = Extract<Inside<Text>, TextNames<(typeof en)[MessageKey]>> | NumberNames<Text>

/** The texts of a language, each with exactly the names that it has in English; else the key does not compile. */
type WithNamesOfEnglish<Texts extends Catalogue> = {
  readonly [Key in MessageKey]: [NamesOf<Texts[Key]>, NamesOf<(typeof en)[Key]>] extends [
    NamesOf<(typeof en)[Key]>,
    NamesOf<Texts[Key]>,
  ]
    ? string
    : { readonly mustHaveTheNames: NamesOf<(typeof en)[Key]> }
}

export function translation<const Texts extends Catalogue>(texts: Texts & WithNamesOfEnglish<Texts>): Catalogue {
  return texts
}
