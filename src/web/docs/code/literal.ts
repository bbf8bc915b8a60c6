type Style = 'json' | 'typescript' | 'python' | 'php'

type Grammar = {
  readonly step: string
  readonly object: readonly [open: string, close: string]
  readonly empty: string
  readonly key: (name: string) => string
  readonly text: (text: string) => string
  readonly words: Readonly<Record<'true' | 'false' | 'null', string>>
  /** The sign after the last field. */
  readonly trailing: string
}

const PLAIN = { true: 'true', false: 'false', null: 'null' }
const quoteDouble = (text: string): string => JSON.stringify(text)
const quoteSingle = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const GRAMMARS: Readonly<Record<Style, Grammar>> = {
  json: {
    step: '  ',
    object: ['{', '}'],
    empty: '{}',
    key: (name) => `${quoteDouble(name)}: `,
    text: quoteDouble,
    words: PLAIN,
    trailing: '',
  },
  typescript: {
    step: '  ',
    object: ['{', '}'],
    empty: '{}',
    key: (name) => `${/^[a-z_]\w*$/i.test(name) ? name : quoteSingle(name)}: `,
    text: quoteSingle,
    words: PLAIN,
    trailing: ',',
  },
  python: {
    step: '    ',
    object: ['{', '}'],
    empty: '{}',
    key: (name) => `${quoteDouble(name)}: `,
    text: quoteDouble,
    words: { true: 'True', false: 'False', null: 'None' },
    trailing: ',',
  },
  php: {
    step: '    ',
    object: ['[', ']'],
    // `[]` is a list in JSON.
    empty: 'new stdClass()',
    key: (name) => `${quoteSingle(name)} => `,
    text: quoteSingle,
    words: PLAIN,
    trailing: ',',
  },
}

/** Writes a JSON value in the syntax of a language, one field a line. `indent` is the column of the first line. */
export function literal(value: unknown, style: Style, indent: number): string {
  const grammar = GRAMMARS[style]
  return write(value, { grammar, margin: ' '.repeat(indent) })
}

function write(value: unknown, { grammar, margin }: { grammar: Grammar; margin: string }): string {
  if (value === null) return grammar.words.null
  if (typeof value === 'boolean') return grammar.words[value ? 'true' : 'false']
  if (typeof value === 'string') return grammar.text(value)
  if (typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => write(item, { grammar, margin })).join(', ')}]`
  const inner = margin + grammar.step
  const fields = Object.entries(value).map(
    ([name, field]) => `${inner}${grammar.key(name)}${write(field, { grammar, margin: inner })}`,
  )
  const [open, close] = grammar.object
  if (fields.length === 0) return grammar.empty
  return `${open}\n${fields.join(',\n')}${grammar.trailing}\n${margin}${close}`
}
