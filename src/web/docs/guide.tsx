import type { Token, Tokens } from 'marked'
import type { ComponentChildren } from 'preact'
import { Table } from '../kit/table.tsx'
import { CodeBlock, CodeTabs } from './code/code.tsx'
import type { Language } from './code/languages.ts'
import { Anchor, type DocsFrame, inLanguage, renderDocs } from './docs-page.tsx'
import { createSlug, findExample, type Guide, listHeadings } from './markdown.ts'

type View = { readonly frame: DocsFrame; readonly guide: Guide; readonly origin: string }

export function renderGuide({ frame, guide, origin }: View): string {
  return renderDocs({
    frame,
    title: guide.title,
    lead: guide.lead.replaceAll('`', ''),
    headings: listHeadings(guide),
    aside: true,
    children: <Blocks tokens={guide.tokens} language={frame.language} origin={origin} />,
  })
}

type BlocksProps = { readonly tokens: readonly Token[]; readonly language: Language; readonly origin: string }

function Blocks({ tokens, language, origin }: BlocksProps) {
  let heading = ''
  let example = 0
  return tokens.map((token) => {
    if (token.type === 'heading') heading = (token as Tokens.Heading).text
    if (token.type !== 'code') return <Block token={token} heading={heading} language={language} />
    const code = findExample(token as Tokens.Code, origin)
    const { lang = '', text } = token as Tokens.Code
    if (code === null) return <CodeBlock name={NAMES[lang] ?? lang} text={text} label={heading} />
    const label = lang === 'call' ? (text.split('\n')[0] ?? heading) : heading
    return <CodeTabs id={`code-${++example}`} code={code} chosen={language} label={label} />
  })
}

const NAMES: Readonly<Record<string, string>> = {
  sh: 'Shell',
  json: 'JSON',
  http: 'HTTP',
  html: 'HTML',
  js: 'JavaScript',
}

type BlockProps = { readonly token: Token; readonly heading: string; readonly language: Language }

function Block({ token, heading, language }: BlockProps): ComponentChildren {
  const inline = (tokens: Token[] | undefined) => <Inline tokens={tokens ?? []} language={language} />
  switch (token.type) {
    case 'space':
      return null
    case 'heading': {
      const { text, tokens, depth } = token as Tokens.Heading
      const id = createSlug(text)
      const content = <Anchor id={id}>{inline(tokens)}</Anchor>
      return depth === 2 ? <h2 id={id}>{content}</h2> : <h3 id={id}>{content}</h3>
    }
    case 'paragraph':
      return <p>{inline((token as Tokens.Paragraph).tokens)}</p>
    case 'list': {
      const { ordered, items } = token as Tokens.List
      const entries = items.map((item) => <li>{inline(item.tokens)}</li>)
      return ordered ? <ol>{entries}</ol> : <ul>{entries}</ul>
    }
    case 'table':
      return <GuideTable table={token as Tokens.Table} caption={heading} language={language} />
    default:
      throw new TypeError(`a guide has no ${token.type}`)
  }
}

type GuideTableProps = { readonly table: Tokens.Table; readonly caption: string; readonly language: Language }

function GuideTable({ table: { header, rows }, caption, language }: GuideTableProps) {
  return (
    <Table<Tokens.TableCell[]>
      caption={caption}
      rows={rows}
      columns={header.map(({ tokens }, index) => ({
        name: <Inline tokens={tokens} language={language} />,
        cell: (row) => <Inline tokens={row[index]?.tokens ?? []} language={language} />,
      }))}
    />
  )
}

function Inline({ tokens, language }: { tokens: readonly Token[]; language: Language }) {
  return <>{tokens.map((token) => renderInline(token, language))}</>
}

function renderInline(token: Token, language: Language): ComponentChildren {
  const inner =
    'tokens' in token && token.tokens !== undefined ? <Inline tokens={token.tokens} language={language} /> : null
  switch (token.type) {
    case 'text':
    case 'paragraph':
      return inner ?? (token as Tokens.Text).text
    case 'escape':
      return (token as Tokens.Escape).text
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>
    case 'strong':
      return <strong>{inner}</strong>
    case 'link':
      return <a href={inLanguage((token as Tokens.Link).href, language)}>{inner}</a>
    default:
      throw new TypeError(`a guide has no ${token.type} in a line`)
  }
}
