import { expect, test } from '@jest/globals'
import { linkIn } from '../api/site/visitor.ts'
import { collectComplaints } from '../support/browser.ts'
import { openDashboard } from './dashboard/dashboard.ts'
import { useBrowser } from './use-browser.ts'

const dashboard = useBrowser(openDashboard)

/** The pages with the most parts. `npm run test:long` examines every page. */
const SAMPLE = ['home', 'overview', 'payments', 'payment', 'link-new', 'team', 'channel', 'webhook', 'key-created']

test.each(SAMPLE)('the page “%s” is accessible, fits, and requests nothing from elsewhere', async (name) => {
  expect(await dashboard.findFaults(name)).toEqual([])
})

test('a new merchant signs up by a link, adds a passkey, and signs in with it alone', async () => {
  const context = await dashboard.browser.newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  const wrong = collectComplaints(page)
  const devices = await context.newCDPSession(page)
  await devices.send('WebAuthn.enable')
  await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const email = 'maya@nordlys.example'
  await page.goto(`${dashboard.origin}/dashboard/payments`)
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Send me a sign-in link' }).click()
  await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
  await page.goto(`${dashboard.origin}${(await linkIn(dashboard.testApi, email)).path}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Name of your shop').fill('Nordlys Studio')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('Chrome on Linux').first().waitFor()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  expect(await page.getByText('Nordlys Studio').count()).toBeGreaterThan(0)
  expect(await page.locator('.timeline .success h3').allTextContents()).toEqual([
    'Confirm your e-mail',
    'Add a passkey',
  ])
  expect(wrong).toEqual([])
  await context.close()
})
