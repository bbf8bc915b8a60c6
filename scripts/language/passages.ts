import { parseSync } from 'oxc-parser'

/**
 * The kind of a passage: `message` is a text in the code that somebody can read, such as an error or a line of a log, `name` the
 * name of a declared function, `path` the path of the file.
 */
export type Kind = 'comment' | 'docstring' | 'markdown' | 'title' | 'message' | 'name' | 'path'

export type Passage = {
  readonly kind: Kind
  /** As long as the original: comment signs and code are replaced by characters that no pattern matches. */
  readonly text: string
  readonly start: number
}

const CODE = /\.(?:[cm]?ts|tsx|[cm]?js|jsx)$/
const TEST = /\.test\.tsx?$/

export function isRead(path: string): boolean {
  return CODE.test(path) || /\.(?:sql|md)$/.test(path)
}

/** Returns the English text of a file: its comments, test titles, function names, Markdown and path. */
export function readPassages(path: string, text: string): Passage[] {
  const passages: Passage[] = [{ kind: 'path', text: path, start: 0 }]
  if (path.endsWith('.md')) return [...passages, { kind: 'markdown', text: withoutCode(text), start: 0 }]
  if (path.endsWith('.sql')) return [...passages, ...joined(text, match(text, /--.*$/gm))]
  const titles = TEST.test(path) ? readTitles(text) : []
  const { comments, program } = parseSync(path, text)
  const messages = path.startsWith('test/') ? [] : readMessages(program)
  return [...passages, ...joined(text, comments), ...titles, ...messages, ...readNames(text)]
}

type Range = { readonly start: number; readonly end: number }

function match(text: string, pattern: RegExp): Range[] {
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => ({ start: index, end: index + found.length }))
}

/** Joins line comments that follow each other, so that a phrase is found over the end of a line. */
function joined(text: string, comments: readonly Range[]): Passage[] {
  const ranges: Range[] = []
  for (const { start, end } of comments) {
    const last = ranges.at(-1)
    const isNext = last !== undefined && !text.startsWith('/*', start) && text.slice(last.end, start).trim() === ''
    if (isNext && !text.startsWith('/*', last.start)) ranges[ranges.length - 1] = { start: last.start, end }
    else ranges.push({ start, end })
  }
  return ranges.map(({ start, end }) => {
    const kind = text.startsWith('/**', start) ? 'docstring' : 'comment'
    const bare = text.slice(start, end).replaceAll(/^\s*(?:\/\/|\/\*+|\*(?!\/)|--)|\*\/$/gm, blank)
    return { kind, text: withoutCode(bare), start }
  })
}

/** Hides fenced blocks, inline code and the targets of links. */
function withoutCode(text: string): string {
  return text.replaceAll(/^ *```[^]*?^ *```|`(?:[^`\n]|\n(?!\s*\n))*`|\]\([^)\s]*\)/gm, (code) =>
    code.replaceAll(/\S/g, '`'),
  )
}

const blank = (found: string): string => found.replaceAll(/\S/g, ' ')

/** `test('…'`, `test.each(rows)('…'`. A title made of placeholders alone is the title of its row. */
function readTitles(text: string): Passage[] {
  const call =
    /^\s*(?:(?:test|it)(?:\.\w+)?(?:\(.*\))?|\].*?\)|`)\(\s*['"`](.*?)['"`],\s*(?:async\b|\(|function\b|\w+ =>|\{)/gm
  return [...text.matchAll(call)].flatMap(({ index, 0: whole, 1: title = '' }) => {
    const start = index + whole.indexOf(title)
    return /^(?:%\w|\$[\w.{}]+|\W)*$/.test(title) ? [] : [{ kind: 'title' as const, text: title, start }]
  })
}

/** A text of three words or more. SQL is none: its words belong to another language. */
const MESSAGE = /^(?!\s*(?:select|insert|update|delete|with|create|alter|grant)\b)(?=.*\w+\s+\w+\s+\w)/is

type Node = { readonly type: string; readonly start: number; readonly value?: unknown }

function readMessages(node: unknown): Passage[] {
  if (Array.isArray(node)) return node.flatMap(readMessages)
  if (typeof node !== 'object' || node === null) return []
  // The texts of a tagged template belong to another language, too.
  if ('type' in node && node.type === 'TaggedTemplateExpression') return []
  const text = 'type' in node ? getText(node as Node) : null
  if (text === null) return Object.values(node).flatMap(readMessages)
  return MESSAGE.test(text) ? [{ kind: 'message', text, start: (node as Node).start }] : []
}

function getText({ type, value }: Node): string | null {
  if (type === 'TemplateElement') return (value as { raw: string }).raw
  return (type === 'Literal' || type === 'JSXText') && typeof value === 'string' ? value : null
}

/** Functions by their names: `function name(`, `const name = (`. */
function readNames(text: string): Passage[] {
  const declared =
    /^\s*(?:export )?(?:async )?(?:function\*? (\w+)|const (\w+)(?:: [^=\n]+)? = (?:async )?(?:(?:<[^>\n]+>)?\([^\n]*|\w+ )=>)/gm
  return [...text.matchAll(declared)].map(({ index, 0: whole, 1: first, 2: second }) => ({
    kind: 'name' as const,
    text: first ?? second ?? '',
    start: index + whole.length - whole.trimStart().length,
  }))
}
