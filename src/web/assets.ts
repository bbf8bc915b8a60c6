import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { brandStyle, PINE } from './kit/brand.ts'
import { type Hex, isHex } from './kit/color.ts'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export type Asset = { readonly body: Buffer; readonly contentType: string }

/** Files by the name under which they are served. The name has a hash of the content, so caches can keep it forever. */
const served = new Map<string, Asset>()

const read = (file: string): string => readFileSync(new URL(`./assets/${file}`, import.meta.url), 'utf8')
const readVerifier = (file: string): string => readFileSync(new URL(`../verifier/${file}`, import.meta.url), 'utf8')

function publish(file: string, content: string = read(file)): string {
  const body = Buffer.from(content)
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12)
  const extension = extname(file)
  const name = `${file.slice(0, -extension.length)}.${hash}${extension}`
  served.set(name, { body, contentType: CONTENT_TYPES[extension] ?? 'application/octet-stream' })
  return `/assets/${name}`
}

/** Publishes a module whose imports are replaced by the paths of the published files. */
function publishModule(file: string, content: string, imports: Readonly<Record<string, string>>): string {
  const linked = Object.entries(imports).reduce((text, [from, to]) => text.replaceAll(`'${from}'`, `'${to}'`), content)
  return publish(file, linked)
}

/** The page uses the same receipt verifier as the command. */
function publishVerifyPage(): string {
  const reading = publish('reading.js', readVerifier('reading.js'))
  const verifier = publishModule('verifier.js', readVerifier('verifier.js'), { './reading.js': reading })
  return publishModule('verify-page.js', read('site/verify-page.js'), { '../../../verifier/verifier.js': verifier })
}

function stripScript(script: string): string {
  return script.replace(/\/\*\*[\s\S]*?\*\/\s*|^\s*\/\/.*\n/gm, '').replace(/\n\s*/g, '\n')
}

/** The script for merchants' pages. Its current version has a fixed path; `path` names a version that never changes. */
export const EMBED_SCRIPT = publishEmbedScript()

/** The script for plugins of shops that expect BTCPay's. */
export const BTCPAY_SCRIPT = stripScript(read('embed/btcpay.js'))

function publishEmbedScript() {
  const body = stripScript(read('embed/pinrail.js'))
  const integrity = `sha384-${createHash('sha384').update(body).digest('base64')}`
  return { body, integrity, path: publish('pinrail.js', body) } as const
}

/** Returns a script with the modules of the kit that it imports in it, so that a page loads one file. */
function readScript(file: string): string {
  return read(file).replace(/^import \{.*\} from '\.\.\/(kit\/.*)'\n/gm, (_import, module: string) =>
    read(module).replace(/^export /gm, ''),
  )
}

/** The sheets of the kit that every page has, in the order in which they apply. Those of a kind of page follow. */
const KIT = 'tokens base icon button field note fold facts pin tag copy qr test-bar'.split(' ')
const BUYER_SHEETS = [
  ...[...KIT, 'head', 'rail', 'languages'].map((name) => `kit/${name}.css`),
  ...['sheet', 'offers', 'receipt', 'wide'].map((name) => `buyer/${name}.css`),
]
const SITE_SHEETS = [
  ...[...KIT, 'table'].map((name) => `kit/${name}.css`),
  ...['tokens', 'frame', 'layout', 'menus', 'forms', 'rails', 'figures', 'code', 'plain'].map(
    (name) => `site/${name}.css`,
  ),
]

function styles(sheets: readonly string[]): string {
  return brandStyle(PINE) + stripCss(sheets.map((file) => read(file)).join('\n'))
}

function stripCss(css: string): string {
  return css.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\n\s*/g, '\n')
}

export const ASSETS = {
  style: publish('checkout.css', styles(BUYER_SHEETS)),
  docsStyle: publish('docs.css', stripCss(read('site/docs.css'))),
  sandboxStyle: publish('sandbox.css', stripCss(read('buyer/sandbox.css'))),
  script: publish('checkout.js', readScript('buyer/checkout.js')),
  frameScript: publish('frame.js', stripScript(read('embed/frame.js'))),
  verifyScript: publishVerifyPage(),
  siteStyle: publish('site.css', styles(SITE_SHEETS)),
  siteScript: publish('site.js', readScript('site/site.js')),
  icon: publish('mark.svg'),
} as const

/** Changes when the derivation of the colors changes. Then every merchant's sheet has a new path. */
const BRAND_VERSION = createHash('sha256').update(brandStyle(PINE)).digest('hex').slice(0, 8)

/** Returns the path of a merchant's colors. The sheet is computed on request, and nothing is stored. */
export function brandSheet(brand: Hex): string {
  return `/assets/brand.${BRAND_VERSION}.${brand.slice(1)}.css`
}

export function findAsset(name: string): Asset | null {
  const [kind, version, digits] = name.split('.')
  const brand = `#${digits}`
  if (kind === 'brand' && version === BRAND_VERSION && isHex(brand) && brandSheet(brand) === `/assets/${name}`)
    return getColors(brand)
  return served.get(name) ?? null
}

/** Each sheet has about 2 kB. Computing one takes milliseconds, and one merchant has many buyers. */
const MAX_CACHED_SHEETS = 500
const sheets = new Map<Hex, Asset>()

function getColors(brand: Hex): Asset {
  const known = sheets.get(brand)
  if (known !== undefined) return known
  const sheet = { body: Buffer.from(brandStyle(brand)), contentType: 'text/css; charset=utf-8' }
  const [oldest] = sheets.keys()
  if (sheets.size >= MAX_CACHED_SHEETS && oldest !== undefined) sheets.delete(oldest)
  sheets.set(brand, sheet)
  return sheet
}
