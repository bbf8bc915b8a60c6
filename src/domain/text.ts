/** Characters by their effect on a reader. Every field that accepts text uses these kinds. */

/**
 * The kinds of characters as a regular expression class, because the OpenAPI document has no property classes. `turn`:
 * the marks that change the direction of reading (Trojan Source, CVE-2021-42574). `invisible`: Unicode's default
 * ignorable characters, the blank Braille pattern and the interlinear anchors; emoji and some scripts need a few of
 * them. `mark`: the marks that a letter carries, in any script; alone they show nothing legible.
 */
const KINDS = {
  control: '\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f',
  break: '\\t\\n\\r\\u2028\\u2029',
  turn: '\\u202a-\\u202e\\u2066-\\u2069',
  invisible:
    '\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2060-\\u2065\\u206a-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb',
  mark: '\\u0300-\\u036f\\u0483-\\u0489\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f',
  blank: '\\x20\\xa0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000',
} as const
export type CharacterKind = keyof typeof KINDS
const ALL = Object.keys(KINDS) as CharacterKind[]

/** The ignorable characters above U+FFFF, which a pattern without flags cannot name. */
const INVISIBLE_ABOVE = '\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}'

/** The inside of a class, for patterns of the document. Without kinds it has all of them. */
export const characterClass = (...kinds: readonly CharacterKind[]): string =>
  (kinds.length === 0 ? ALL : kinds).map((kind) => KINDS[kind]).join('')

const patterns = new Map<string, RegExp>()

function anyOf(kinds: readonly CharacterKind[]): RegExp {
  const above = kinds.includes('invisible') ? INVISIBLE_ABOVE : ''
  const key = kinds.join()
  const found = patterns.get(key) ?? new RegExp(`[${characterClass(...kinds)}${above}]+`, 'gu')
  patterns.set(key, found)
  return found
}

export const hasCharacters = (text: string, ...kinds: readonly CharacterKind[]): boolean =>
  text.search(anyOf(kinds)) >= 0

export const withoutCharacters = (text: string, ...kinds: readonly CharacterKind[]): string =>
  text.replace(anyOf(kinds), '')

/** Returns the only form in which people's text is stored and searched. */
export const storedText = (text: string): string => text.normalize('NFC')

/** Returns the form in which a reference is stored and searched: two references that look alike are the same. */
export const storedReference = (text: string): string => withoutCharacters(storedText(text), 'invisible')

export const isVisible = (text: string): boolean => withoutCharacters(text, ...ALL) !== ''

/** True if Postgres can store the text and no mark in it deceives its reader. `lines` can have tabs and line breaks. */
export const isSafeText = (text: string, kind: 'line' | 'lines'): boolean =>
  text.isWellFormed() && !hasCharacters(text, 'control', 'turn', ...(kind === 'line' ? (['break'] as const) : []))

/** Returns the text as one visible line: with blanks in place of line breaks, and without invisible characters. */
export const plainLine = (text: string): string =>
  withoutCharacters(text.toWellFormed().replace(anyOf(['control', 'break']), ' '), 'turn', 'invisible').trim()

/** Characters of other scripts that look like a Latin letter or a digit (after Unicode's confusables.txt). */
const LOOKALIKES = new Map(
  Object.entries({
    a: 'аαɑᴀꭺ',
    b: 'вβʙЬь',
    c: 'сϲᴄ',
    d: 'ԁᴅ',
    e: 'еєεᴇ',
    g: 'ɡɢ',
    h: 'нһηʜ',
    l: 'iіıιɩɪӏʟ1|ǀłɫɭƚɨꮮꭵ',
    j: 'јᴊ',
    k: 'кκᴋ',
    m: 'мμᴍ',
    n: 'пɴΝոռɲƞ',
    o: 'оοσ0ᴏ',
    p: 'рρᴘƥᵽꮲ',
    q: 'ԛ',
    r: 'гʀɾɍɼꭱꮢ',
    s: 'ѕ5ꜱ',
    t: 'тτᴛ',
    u: 'υʋᴜ',
    v: 'νѵᴠ',
    w: 'шԝωᴡ',
    x: 'хχ',
    y: 'уγүʏ',
    z: 'ᴢ',
  }).flatMap(([latin, others]) => Array.from(others, (other) => [other, latin] as const)),
)

/** White letters in black circles and squares, which NFKD keeps: two alphabets, 32 places apart. */
const ENCLOSED = /[\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}]/gu
const letterIn = (sign: string): string => String.fromCodePoint(0x61 + (((sign.codePointAt(0) ?? 0) - 0x1f150) % 32))

/** Returns one spelling for all texts that look alike. Use it to compare, never to show. */
export function toSkeleton(text: string): string {
  const bare = withoutCharacters(
    text.normalize('NFKD').replace(ENCLOSED, letterIn),
    'control',
    'turn',
    'invisible',
  ).replace(/\p{M}/gu, '')
  return Array.from(bare, (character) => {
    const lower = character.toLowerCase()
    return LOOKALIKES.get(character) ?? LOOKALIKES.get(lower) ?? lower
  }).join('')
}
