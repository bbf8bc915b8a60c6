import { createServer } from 'node:http'
import { chromium } from '/work/main/node_modules/playwright-core/index.mjs'
import { findAsset } from '/work/main/src/web/assets.ts'
import { renderCheckout, renderHandoff } from '/work/main/src/web/checkout/page.tsx'
import { renderProblem } from '/work/main/src/web/checkout/problem.tsx'
import { wordsIn } from '/work/main/src/web/messages/words.ts'
import { pageHeaders } from '/work/main/src/web/page-headers.ts'
import { aCheckout, anAttempt, BY_STATUS, SITUATIONS } from '/work/main/test/web/fixtures.ts'
const words = wordsIn('en')
const pages = new Map<string, string>()
for (const [n, c] of [...Object.entries(BY_STATUS), ...Object.entries(SITUATIONS)]) pages.set(n.replace(/[^a-zA-Z]+/g, '-'), renderCheckout(aCheckout(c as never), words))
pages.set('handoff', renderHandoff(aCheckout(), words, anAttempt('open') as never).replace(/<meta http-equiv="refresh"[^>]*>/, ''))
pages.set('not-found', renderProblem('not_found', words, null))
const server = createServer((req, res) => {
  const name = req.url!.split('/').pop()!
  const asset = findAsset(name)
  if (asset) { res.writeHead(200, { 'content-type': asset.contentType }).end(asset.body); return }
  const page = pages.get(name)
  if (!page) { res.writeHead(404).end('{}'); return }
  res.writeHead(200, { ...pageHeaders('http://x'), 'content-type': 'text/html' }).end(page)
}).listen(0, '127.0.0.1')
await new Promise((r) => server.once('listening', r))
const port = (server.address() as { port: number }).port
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'] })
const only = process.argv[2]?.split(',')
const shots = [['phone', 390, 780, 'light'], ['desk', 1280, 860, 'light'], ['dark', 390, 780, 'dark'], ['tiny', 320, 700, 'light']] as const
for (const [kind, width, height, colorScheme] of shots) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme })
  const page = await context.newPage()
  page.on('console', (m) => { if (!m.text().includes('404')) console.log(kind, page.url(), m.text()) })
  for (const name of pages.keys()) {
    if (only && !only.includes(name)) continue
    await page.goto(`http://127.0.0.1:${port}/c/${name}`)
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    if (overflow > 0) console.log('OVERFLOW', kind, name, overflow)
    if (kind !== 'tiny' || only) await page.screenshot({ path: `/tmp/shots/${kind}-${name}.png`, fullPage: true })
  }
  await context.close()
}
await browser.close(); server.close()
console.log([...pages.keys()].join(' '))
