import { type Browser, chromium, type Page } from 'playwright-core'
import { findChromium } from '../../scripts/setup/chromium.ts'

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

export async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === null)
    throw new Error(
      'Chromium is missing. Install it (Debian: apt-get install -y chromium) or set CHROMIUM to its path.',
    )
  return chromium.launch({ executablePath, args: FLAGS })
}

/**
 * Collects the browser's complaints about this page: policy violations, errors of scripts, failed requests. If an
 * origin is given, a request to any other is a complaint too.
 */
export function collectComplaints(page: Page, origin = ''): string[] {
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) complaints.push(`requests ${request.url()}`)
  })
  return complaints
}
