import { IntlMessageFormat } from 'intl-messageformat'
import en from '../../src/web/messages/en.json' with { type: 'json' }

const HEAD = `/**
 * The placeholders of the checkout's messages: \`npm run docs\` writes this file from en.json, so that the compiler checks the
 * values of each message. A plural counts with a number; the others are texts, or elements of a page.
 */
export type Placeholders<Text> = {
`

/** Writes the type with the names of the values in each English message that has any. */
export function placeholderTypes(): string {
  const lines = Object.entries(en).flatMap(([key, text]) => {
    const names = listPlaceholders(text)
    return names.length === 0 ? [] : [`  '${key}': { ${names.join('; ')} }\n`]
  })
  return `${HEAD}${lines.join('')}}\n`
}

function listPlaceholders(text: string): string[] {
  const parts = new IntlMessageFormat(text, 'en', undefined, { ignoreTag: true }).getAst()
  const names = parts.flatMap((part) => {
    if ('options' in part) return [`${part.value}: number`]
    return part.type !== 0 && 'value' in part ? [`${String(part.value)}: Text`] : []
  })
  return [...new Set(names)]
}
