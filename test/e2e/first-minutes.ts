import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from '@jest/globals'
import type { Browser, Locator, Page } from 'playwright-core'
import type { System } from '../../scripts/system.ts'
import { findFaults, type Look, prepareForAxe } from '../browser/faults.ts'

/** A screenshot of each page is written if SHOTS names a folder. */
const PICTURES: readonly Look[] =
  process.env['SHOTS'] === undefined
    ? []
    : [1440, 820, 390].flatMap((width) =>
        (['light', 'dark'] as const).map(
          (colorScheme) => ({ width, colorScheme, text: '100%', axe: 'colors' }) as const,
        ),
      )

/** Counts presses, and fails on a dead end: a page that answers with an error, or that offers no next action. */
function walk(page: Page) {
  const errors: string[] = []
  page.on('response', (response) => {
    if (response.status() >= 400) errors.push(`${response.status()} ${response.url()}`)
  })
  page.on('pageerror', (error) => errors.push(error.message))
  let clicks = 0
  const arrive = async (name: string): Promise<void> => {
    await page.waitForLoadState('load')
    const actions = page.locator('main :is(a[href], button[type=submit], button:not([type])):visible')
    await actions
      .first()
      .waitFor()
      .catch(() => {
        throw new Error(`“${name}” is a dead end: nothing on it can be pressed`)
      })
    expect(errors).toEqual([])
    expect(await findFaults(page, name, { looks: PICTURES })).toEqual([])
    await page.setViewportSize({ width: 1280, height: 900 })
  }
  return {
    arrive,
    clicks: () => clicks,
    press: async (target: Locator, name: string): Promise<void> => {
      clicks += 1
      await target.click()
      await page.waitForLoadState('load')
      await arrive(name)
    },
  }
}

async function withAuthenticator(page: Page): Promise<void> {
  const devices = await page.context().newCDPSession(page)
  await devices.send('WebAuthn.enable')
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  } as const
  await devices.send('WebAuthn.addVirtualAuthenticator', { options })
}

/**
 * A new merchant on a system as `npm start` runs it: from the sign-in page to a payment, a webhook and a passkey.
 * Returns the number of clicks.
 */
export async function walkFirstMinutes(browser: Browser, system: System): Promise<number> {
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  const page = await context.newPage()
  await prepareForAxe(page)
  await page.setViewportSize({ width: 1280, height: 900 })
  await withAuthenticator(page)
  const walked = walk(page)
  const { press, arrive } = walked
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const done = async () => (await page.locator('.timeline .success h3').allTextContents()).join(', ')

  await page.goto(system.info.dashboard_url)
  await arrive('1 sign-in')
  await page.getByLabel('E-mail').fill('nina@nordlys.example')
  await press(button('Send me a sign-in link'), '2 sent')
  expect(await page.locator('main').textContent()).toContain('We sent a link to nina@nordlys.example')
  await press(page.getByRole('link', { name: 'Open the local mail inbox' }), '3 mail inbox')
  await press(page.locator('a[href*="/sign-in/link/"]').first(), '4 link')
  await press(button('Sign in'), '5 welcome')
  expect(await page.locator('nav.nav').count()).toBe(0)
  await page.getByLabel('Name of your shop').fill('Nordlys Studio')
  await press(button('Create account'), '6 account')
  expect(await page.locator('nav.nav').count()).toBe(1)
  await press(button('Use a test wallet'), '7 wallet')
  expect(await page.getByRole('status').first().textContent()).toBe('The wallet is saved. New payments go there.')
  await press(button('Use the local webhook inbox'), '8 webhook')
  await press(button('Create an API key'), '9 key')
  expect(await done()).toBe('Confirm your e-mail, Set your wallet, Receive events, Create an API key')

  const command = (await page.getByLabel('The call that creates a payment').textContent()) ?? ''
  const { stdout } = await promisify(execFile)('sh', ['-c', command])
  const payment = JSON.parse(stdout) as { id: string; checkout_url: string }

  // The page of the payment follows it in another tab, as a merchant leaves it open.
  const watching = await context.newPage()
  await watching.goto(`${new URL(system.info.dashboard_url).origin}/dashboard/payments/${payment.id}`)
  await page.goto(payment.checkout_url)
  await arrive('10 checkout')
  await press(page.getByRole('button', { name: /^Continue/ }), '11 partner')
  await press(page.getByRole('button', { name: /^Pay / }), '12 identity check')
  await press(page.getByRole('button', { name: /^Confirm and pay / }), '13 returned')
  await page.getByRole('heading', { name: 'Paid. Thank you.' }).waitFor()
  await watching.getByText('Succeeded').first().waitFor()
  await watching.getByText('accepted the event').first().waitFor()
  await watching.close()

  await page.goto(system.info.dashboard_url)
  await arrive('14 overview')
  expect(await page.locator('section[aria-labelledby=wh]').textContent()).toContain('Delivered, 24 h1 of 1')
  await press(button('Add a passkey'), '15 passkey')
  await page.getByText('The passkey is added.').waitFor()
  await context.close()
  return walked.clicks()
}
