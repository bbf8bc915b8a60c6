import { parseArgs } from 'node:util'
import { ConnectionError, errorFor } from '../errors.ts'
import { readVariable } from './usage.ts'

type TestAccount = {
  readonly api_url: string
  readonly api_key: string
  readonly webhook_secret: string
  readonly claim_url: string
  readonly expires_at: string
}

/** Creates a test account without a person. Prints lines that a shell and an `.env` file take unchanged. */
export async function createSandbox(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      name: { type: 'string' },
      wallet: { type: 'string' },
      'webhook-url': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const { name, wallet, 'webhook-url': webhookUrl } = values
  const account = await requestAccount(readVariable('PINRAIL_URL'), {
    ...(name !== undefined && { name }),
    ...(wallet !== undefined && { wallet }),
    ...(webhookUrl !== undefined && { webhook_url: webhookUrl }),
  })
  const { api_url: url, api_key: key, webhook_secret: secret, claim_url: claimUrl, expires_at: end } = account
  process.stdout.write(
    values.json
      ? `${JSON.stringify(account)}\n`
      : `PINRAIL_URL=${url}\nPINRAIL_API_KEY=${key}\nPINRAIL_WEBHOOK_SECRET=${secret}\n` +
          `# Make the account yours before ${end.slice(0, 10)}: ${claimUrl}\n`,
  )
}

async function requestAccount(baseUrl: string, wanted: object): Promise<TestAccount> {
  const url = new URL('/v1/test/accounts', baseUrl)
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(wanted) }
  const response = await fetch(url, request).catch((error: unknown) => {
    throw new ConnectionError(`No answer from ${url.origin}.`, { cause: error })
  })
  const text = await response.text()
  if (!response.ok) throw errorFor(response.status, text)
  return JSON.parse(text) as TestAccount
}
