import { plainLine } from '../domain/text.ts'

/** A message before it is written in the markup of a service. */
export type Part =
  /** Words of the platform, and names that the merchant gave. */
  | { readonly kind: 'text'; readonly text: string }
  /** Text that a buyer or another stranger may have typed. */
  | { readonly kind: 'typed'; readonly text: string }
  /** A page of the platform. */
  | { readonly kind: 'link'; readonly url: string }

export type Composed = {
  /** One line: the subject of a mail, the bold line of a chat. */
  readonly title: string
  readonly lines: readonly (readonly Part[])[]
}

export const words = (text: string): Part => ({ kind: 'text', text })
export const typed = (text: string): Part => ({ kind: 'typed', text: sanitize(text) })
export const link = (url: string): Part => ({ kind: 'link', url })

const LONGEST_TYPED = 64

/**
 * Returns one line of printable characters: without backticks, which would end the code around it, without marks that
 * change the direction of text, and without zero-width characters.
 */
function sanitize(text: string): string {
  const plain = plainLine(text.replace(/[\p{Co}`]/gu, ' ')).replace(/\s+/g, ' ')
  const characters = Array.from(plain)
  return characters.length <= LONGEST_TYPED ? plain : `${characters.slice(0, LONGEST_TYPED - 1).join('')}…`
}

/** Returns the text without markup, with the places of what was typed, in UTF-16 units as Telegram counts. */
export function plainText({ title, lines }: Composed): { text: string; codes: { offset: number; length: number }[] } {
  let text = title
  const codes: { offset: number; length: number }[] = []
  for (const line of lines) {
    text += '\n'
    for (const part of line) {
      const added = part.kind === 'link' ? part.url : part.text
      if (part.kind === 'typed' && added !== '') codes.push({ offset: text.length, length: added.length })
      text += added
    }
  }
  return { text, codes }
}

export type Markup = {
  readonly escape: (text: string) => string
  readonly code: (text: string) => string
  readonly link: (url: string) => string
  readonly bold: (text: string) => string
}

export function markedText({ title, lines }: Composed, { escape, code, link: linked, bold }: Markup): string {
  const marked = (part: Part): string =>
    part.kind === 'link' ? linked(part.url) : part.kind === 'typed' ? code(part.text) : escape(part.text)
  return [bold(escape(title)), ...lines.map((line) => line.map(marked).join(''))].join('\n')
}
