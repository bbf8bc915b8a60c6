import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export type Asset = { readonly body: Buffer; readonly contentType: string }

/** Files by the name under which they are served. It holds a hash of the content, so they may be cached for ever. */
const served = new Map<string, Asset>()

function publish(file: string): string {
  const body = readFileSync(new URL(`./assets/${file}`, import.meta.url))
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12)
  const extension = extname(file)
  const name = `${file.slice(0, -extension.length)}.${hash}${extension}`
  served.set(name, { body, contentType: CONTENT_TYPES[extension] ?? 'application/octet-stream' })
  return `/assets/${name}`
}

/** Addresses of the assets, for the pages. */
export const ASSETS = {
  style: publish('checkout.css'),
  docsStyle: publish('docs.css'),
  script: publish('checkout.js'),
  icon: publish('icon.svg'),
} as const

export function findAsset(name: string): Asset | null {
  return served.get(name) ?? null
}
