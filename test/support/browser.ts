import { accessSync, constants } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'

/** Where Debian and others put it; CHROMIUM names another one. */
const USUAL_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Quiet: no first run, no update, no call home. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium(), args: FLAGS })
}

function findChromium(): string {
  const named = process.env['CHROMIUM']
  const candidates = named === undefined || named === '' ? USUAL_PATHS : [named]
  const found = candidates.find(isExecutable)
  if (found !== undefined) return found
  throw new Error(
    `Chromium is not at ${candidates.join(' or ')}. Install it (Debian: apt-get install -y chromium) or set CHROMIUM to its path.`,
  )
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** WCAG 2.2 AA with all before it, and what the makers of axe think good practice. */
export const AXE_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Everything the browser complains about on this page: policy violations, errors of scripts, failed requests. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return complaints
}
