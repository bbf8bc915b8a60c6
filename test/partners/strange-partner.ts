import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ProviderName } from '../../src/domain/methods.ts'
import { createPartners } from '../../src/partners/index.ts'
import { PartnerError, type PaymentPartner } from '../../src/partners/provider.ts'
import { hmacSha256 } from '../../src/partners/signature.ts'
import { getSecret, listen, type SandboxServer } from './sandbox-server.ts'

/** The PartnerError that the call ends with; any other error is thrown. */
export const catchPartnerError = async (call: Promise<unknown>): Promise<PartnerError> => {
  const error = await call.then(
    (value) => new Error(`no trouble: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof PartnerError)) throw error
  return error
}

/** The drivers against a partner with responses that the test chooses. */
export async function withPartnerThat(
  server: SandboxServer,
  answers: (request: IncomingMessage, response: ServerResponse) => void,
  check: (partners: ReturnType<typeof createPartners>) => Promise<void>,
): Promise<void> {
  const strange = createServer(answers)
  const url = await listen(strange)
  const settings = (provider: ProviderName) => ({ ...server.settings(provider), url })
  try {
    await check(
      createPartners({
        wallet_app: settings('wallet_app'),
        card_partner: settings('card_partner'),
        local_partner: settings('local_partner'),
      }),
    )
  } finally {
    strange.closeAllConnections()
    strange.close()
  }
}

type Tampering = {
  readonly server: SandboxServer
  readonly provider: ProviderName
  readonly from: string
  readonly to: string
}

/**
 * The driver against its simulator, with a text in every response replaced, and signed again if responses are signed.
 */
export async function withTamperedAnswers(
  { server, provider, from, to }: Tampering,
  check: (partner: PaymentPartner) => Promise<void>,
): Promise<void> {
  const target = server.settings(provider).url
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    for (const name of ['host', 'connection', 'content-length', 'transfer-encoding']) delete headers[name]
    const body = await text(request)
    const answer = await fetch(`${new URL(target).origin}${request.url}`, {
      method: request.method ?? 'GET',
      headers,
      ...(body === '' ? {} : { body }),
    })
    const changed = (await answer.text()).replaceAll(from, to)
    const checksum = hmacSha256(getSecret(provider), changed, 'base64')
    response.writeHead(answer.status, { 'x-checksum': checksum }).end(changed)
  }
  const between = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy())
  })
  const url = `${await listen(between)}${new URL(target).pathname}`
  const settings = { ...server.settings(provider), url }
  try {
    const others = {
      wallet_app: server.settings('wallet_app'),
      card_partner: server.settings('card_partner'),
      local_partner: server.settings('local_partner'),
    }
    await check(createPartners({ ...others, [provider]: settings })[provider])
  } finally {
    between.closeAllConnections()
    between.close()
  }
}
