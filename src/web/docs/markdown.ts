import { lexer, type Token, type Tokens } from 'marked'
import { readCall } from './code/call.ts'
import { callCode } from './code/call-code.ts'
import { type Code, LANGUAGES } from './code/languages.ts'
import { VERIFY_CODE } from './code/verify-code.ts'
import type { Heading } from './docs-page.tsx'

/** A guide: Markdown in which ```call is an API call, and ```verify the code that verifies a webhook. */
export type Guide = { readonly title: string; readonly lead: string; readonly tokens: readonly Token[] }

/** Parses a guide. Throws a SyntaxError if it does not begin with a title and a paragraph. */
export function readGuide(text: string): Guide {
  const [title, lead, ...tokens] = lexer(text).filter(({ type }) => type !== 'space')
  if (title?.type !== 'heading' || lead?.type !== 'paragraph')
    throw new SyntaxError(`no title and lead: ${text.slice(0, 80)}`)
  return { title: (title as Tokens.Heading).text, lead: (lead as Tokens.Paragraph).text, tokens }
}

export function listHeadings({ tokens }: Guide): Heading[] {
  return tokens.flatMap((token) =>
    token.type === 'heading' && (token as Tokens.Heading).depth === 2
      ? [{ id: createSlug((token as Tokens.Heading).text), text: (token as Tokens.Heading).text }]
      : [],
  )
}

export const createSlug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\w]+/g, '-')
    .replace(/^-|-$/g, '')

/** Returns the example of a fenced block; null if the block is only text. */
export function findExample({ lang, text }: Tokens.Code, origin: string): Code | null {
  if (lang === 'call') return callCode(readCall(text, origin))
  return lang === 'verify' ? VERIFY_CODE : null
}

/** Writes a guide as plain Markdown, with each example in all of its languages. */
export function plainMarkdown(text: string, origin: string): string {
  return lexer(text)
    .map((token) => {
      const code = token.type === 'code' ? findExample(token as Tokens.Code, origin) : null
      return code === null ? token.raw : `${fenced(code)}\n`
    })
    .join('')
}

export function fenced(code: Code): string {
  return code
    .map(
      ({ language, text }) =>
        `${LANGUAGES[language]}:\n\n\`\`\`${language === 'curl' ? 'sh' : language}\n${text}\n\`\`\``,
    )
    .join('\n\n')
}
