/** A parser for the HTML of server-rendered pages with forms: elements with attributes, and text between them. */

export type Button = { readonly name: string; readonly value: string; readonly label: string }
export type Form = {
  /** The absolute URL of the form's action. */
  readonly url: string
  readonly method: 'get' | 'post'
  /** The values that every button sends: hidden fields, texts, checked boxes. */
  readonly fields: readonly (readonly [string, string])[]
  readonly choices: readonly { readonly name: string; readonly value: string; readonly isChecked: boolean }[]
  readonly buttons: readonly Button[]
}
export type Page = {
  readonly url: string
  readonly title: string
  readonly forms: readonly Form[]
  /** Absolute URLs, of any scheme. */
  readonly links: readonly string[]
}

const TAG = /<(\/?)([a-z][a-z0-9-]*)((?:\s+[^\s=>/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+))?)*)\s*\/?>/gi
const ATTRIBUTE = /([^\s=>/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?/g
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

export function readPage(url: string, text: string): Page {
  const elements = readElements(text)
  const links = elements.flatMap(({ name, attributes }) => {
    if (name === 'a' && attributes['href'] !== undefined) return [attributes['href']]
    const refresh = name === 'meta' && attributes['http-equiv']?.toLowerCase() === 'refresh'
    const target = refresh ? /url=(.+)$/i.exec(attributes['content'] ?? '')?.[1] : undefined
    return target === undefined ? [] : [target.trim()]
  })
  return {
    url,
    title: elements.find((each) => each.name === 'title')?.text ?? '',
    forms: readForms(elements, url),
    links: links.flatMap((link) => absolute(link, url)),
  }
}

type Element = {
  readonly name: string
  readonly isEnd: boolean
  readonly attributes: Readonly<Record<string, string>>
  /** The text up to the end of the element, without markup. */
  readonly text: string
}

function readElements(text: string): Element[] {
  const visible = text.replace(/<!--[\s\S]*?-->/g, '').replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, '')
  return [...visible.matchAll(TAG)].map((match) => {
    const name = (match[2] ?? '').toLowerCase()
    const after = visible.slice(match.index + match[0].length)
    const end = after.search(new RegExp(`</${name}\\s*>`, 'i'))
    return {
      name,
      isEnd: match[1] === '/',
      attributes: readAttributes(match[3] ?? ''),
      text: ['button', 'title', 'option', 'textarea'].includes(name) ? getText(after.slice(0, Math.max(end, 0))) : '',
    }
  })
}

function readAttributes(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(ATTRIBUTE)].map((match) => [
      (match[1] ?? '').toLowerCase(),
      decode(match[2] ?? match[3] ?? match[4] ?? ''),
    ]),
  )
}

function getText(markup: string): string {
  return decode(markup.replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim()
}

function decode(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,5});/gi, (whole, code: string) => {
    if (!code.startsWith('#')) return NAMED[code.toLowerCase()] ?? whole
    const number = code[1]?.toLowerCase() === 'x' ? Number.parseInt(code.slice(2), 16) : Number(code.slice(1))
    return String.fromCodePoint(number)
  })
}

type OpenForm = {
  -readonly [Key in keyof Form]: Form[Key] extends readonly (infer Item)[] ? Item[] : Form[Key]
}

function readForms(elements: readonly Element[], pageUrl: string): Form[] {
  const forms: OpenForm[] = []
  const byId = new Map<string, OpenForm>()
  let current: OpenForm | null = null
  let select: string | null = null
  for (const element of elements) {
    const { attributes } = element
    if (element.name === 'form') {
      current = element.isEnd ? null : newForm(attributes, pageUrl)
      if (current !== null) forms.push(current)
      if (current !== null && attributes['id'] !== undefined) byId.set(attributes['id'], current)
    } else if (element.name === 'select') select = element.isEnd ? null : (attributes['name'] ?? null)
    else if (!element.isEnd) addControl(byId.get(attributes['form'] ?? '') ?? current, element, select)
  }
  return forms
}

function newForm(attributes: Element['attributes'], pageUrl: string): OpenForm {
  return {
    url: new URL(attributes['action'] ?? '', pageUrl).href,
    method: attributes['method']?.toLowerCase() === 'post' ? 'post' : 'get',
    fields: [],
    choices: [],
    buttons: [],
  }
}

function addControl(form: OpenForm | null, element: Element, select: string | null): void {
  const { attributes, name: tag } = element
  if (form === null || 'disabled' in attributes) return
  const name = attributes['name'] ?? ''
  const type = attributes['type']?.toLowerCase() ?? (tag === 'button' ? 'submit' : 'text')
  const value = attributes['value'] ?? (tag === 'option' ? element.text : '')
  if (tag === 'button' && type === 'submit') form.buttons.push({ name, value, label: element.text })
  else if (tag === 'option' && select !== null)
    form.choices.push({ name: select, value, isChecked: 'selected' in attributes })
  else if (tag === 'textarea' && name !== '') form.fields.push([name, element.text])
  else if (tag === 'input') addInput(form, { name, type, value, isChecked: 'checked' in attributes })
}

type Input = { readonly name: string; readonly type: string; readonly value: string; readonly isChecked: boolean }

function addInput(form: OpenForm, { name, type, value, isChecked }: Input): void {
  if (type === 'submit') form.buttons.push({ name, value, label: value })
  else if (name === '' || type === 'button' || type === 'reset' || type === 'file') return
  else if (type === 'radio') form.choices.push({ name, value: value || 'on', isChecked })
  else if (type !== 'checkbox') form.fields.push([name, value])
  else if (isChecked) form.fields.push([name, value || 'on'])
}

function absolute(link: string, pageUrl: string): string[] {
  return URL.canParse(link, pageUrl) ? [new URL(link, pageUrl).href] : []
}
