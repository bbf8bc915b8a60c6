import { expect, test } from '@jest/globals'
import { verifyTypedData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { linkIn } from '../api/site/visitor.ts'
import { collectComplaints } from '../support/browser.ts'
import { openDashboard, PAID_WALLET } from './dashboard/dashboard.ts'
import { useBrowser } from './use-browser.ts'

const dashboard = useBrowser(openDashboard)

/** The pages with the most parts. `npm run test:long` examines every page. */
const SAMPLE = [
  'home',
  'overview',
  'payments',
  'payment',
  'refund',
  'link-new',
  'team',
  'channel',
  'webhook',
  'key-created',
]

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

/** The key of the first account of anvil. */
const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

test('a wallet of the browser signs the transfer that pays for a refund, and each refusal says what to do', async () => {
  const context = await dashboard.browser.newContext({ viewport: { width: 1280, height: 900 } })
  await context.addCookies([{ name: 'pinrail_session', value: dashboard.session, url: dashboard.origin }])
  const page = await context.newPage()
  const wrong = collectComplaints(page)
  const wallet = { accounts: ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8'], code: 0, asked: [] as string[] }
  const account = privateKeyToAccount(KEY)
  let chain = '0x1'
  await page.exposeFunction('askWallet', async (method: string, params: readonly unknown[]) => {
    wallet.asked.push(method)
    if (method === 'eth_requestAccounts') return { answer: wallet.accounts }
    if (method === 'eth_chainId') return { answer: chain }
    if (wallet.code !== 0) return { code: wallet.code }
    if (method === 'wallet_switchEthereumChain') chain = (params[0] as { chainId: string }).chainId
    if (method !== 'eth_signTypedData_v4') return { answer: null }
    return { answer: await account.signTypedData(JSON.parse(String(params[1]))) }
  })
  await page.addInitScript(() => {
    const request = async ({ method, params = [] }: { method: string; params?: readonly unknown[] }) => {
      const { answer, code } = await Reflect.get(window, 'askWallet')(method, params)
      if (code !== undefined) throw Object.assign(new Error('refused'), { code })
      return answer
    }
    Object.assign(window, { ethereum: { request } })
  })
  await page.goto(`${dashboard.origin}/dashboard/refunds/${dashboard.refund}`)
  const press = () => page.getByRole('button', { name: 'Sign with wallet' }).click()
  const error = page.getByRole('alert')
  await press()
  await error.getByText('Your wallet shows another account. Choose 0xf39F…2266').waitFor()
  wallet.accounts = [PAID_WALLET]
  for (const [code, text] of [
    [4001, 'You refused the request'],
    [4902, 'Add Polygon in your wallet'],
    [-32002, 'already shows a request'],
    [-32603, 'Your wallet did not sign'],
  ] as const) {
    wallet.code = code
    await press()
    await error.getByText(text).waitFor()
  }
  wallet.code = 0
  const data = JSON.parse((await page.locator('form[data-sign]').getAttribute('data-sign')) ?? '')
  const sent = page.waitForRequest((request) => request.method() === 'POST')
  await press()
  const signature = new URLSearchParams((await sent).postData() ?? '').get('signature') as `0x${string}`
  expect(await verifyTypedData({ ...data, address: PAID_WALLET, signature })).toBe(true)
  expect([chain, wallet.asked.at(-1)]).toEqual([`0x${(31337).toString(16)}`, 'eth_signTypedData_v4'])
  await page.getByText('We have your signature, and send the transfer').waitFor()
  expect(wrong).toEqual([])
  await context.close()
})
