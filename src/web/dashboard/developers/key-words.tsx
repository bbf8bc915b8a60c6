import { Fact } from '../../kit/facts.tsx'
import { Icon } from '../../kit/icon.tsx'
import { State } from '../../kit/state.tsx'
import { spanText } from '../../kit/time.tsx'

/** An API key without its secret. Times are ISO 8601. */
export type KeyShown = {
  /** The id of the API, with its prefix. */
  readonly id: string
  readonly livemode: boolean
  readonly name: string
  readonly last4: string
  readonly scopes: readonly string[]
  readonly allowedIps: readonly string[] | null
  readonly createdAt: string
  readonly lastUsedAt: string | null
  readonly expiresAt: string | null
  readonly revokedAt: string | null
}

export function isInUse({ revokedAt, expiresAt }: KeyShown, now: string): boolean {
  return revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.parse(now))
}

/** Shows the beginning and the end of a key. */
export function KeyText({ apiKey: { id, livemode, last4 } }: { apiKey: KeyShown }) {
  return <code>{`pinrail_${livemode ? 'live' : 'test'}_${id.replace(/^key_/, '').slice(0, 4)}…${last4}`}</code>
}

export function KeyState({ apiKey, now }: { apiKey: KeyShown; now: string }) {
  const { revokedAt, expiresAt } = apiKey
  if (revokedAt !== null)
    return (
      <State tone="quiet" icon="circle_minus">
        Revoked
      </State>
    )
  if (!isInUse(apiKey, now))
    return (
      <State tone="quiet" icon="clock">
        Expired
      </State>
    )
  if (expiresAt === null)
    return (
      <State tone="success" icon="circle_check">
        Active
      </State>
    )
  return (
    <State tone="wait" icon="clock">
      Expires in {spanText(Date.parse(expiresAt) - Date.parse(now))}
    </State>
  )
}

export function MayDo({ scopes, all }: { scopes: readonly string[]; all: readonly string[] }) {
  return (
    <>
      {describeScopes(scopes, all).map((word) => (
        <span key={word}>
          <span class="tag">{word}</span>{' '}
        </span>
      ))}
    </>
  )
}

/** The scope that `Everything` does not contain. */
const FOR_AGENTS = 'agents:use'

function describeScopes(scopes: readonly string[], all: readonly string[]): string[] {
  const forPrograms = (list: readonly string[]): string[] => list.filter((scope) => scope !== FOR_AGENTS)
  const words = describeProgramScopes(forPrograms(scopes), forPrograms(all))
  return scopes.includes(FOR_AGENTS) ? [...words, 'Agents'] : words
}

/** Returns `Everything`, `Read only`, or the nouns of the scopes. */
function describeProgramScopes(scopes: readonly string[], all: readonly string[]): string[] {
  if (all.every((scope) => scopes.includes(scope))) return ['Everything']
  const reads = all.filter((scope) => scope.endsWith(':read'))
  if (scopes.length === reads.length && reads.every((scope) => scopes.includes(scope))) return ['Read only']
  const nouns = [...new Set(scopes.map((scope) => scope.split(':')[0] ?? scope))]
  return nouns.map((noun) => {
    const name = `${noun.charAt(0).toUpperCase()}${noun.slice(1).replaceAll('_', ' ')}`
    return scopes.includes(`${noun}:write`) ? name : `${name}, read`
  })
}

type PluginSettingsProps = { readonly apiKey: KeyShown; readonly storeId: string; readonly publicUrl: string }

/** The settings of a plugin that is made for BTCPay Server, if the key can do what such a plugin does. */
export function PluginSettings({ apiKey: { scopes }, storeId, publicUrl }: PluginSettingsProps) {
  if (!scopes.includes('payments:write') || !scopes.includes('webhooks:write')) return null
  return (
    <>
      <Fact name="URL in a plugin for BTCPay Server">
        <code>{`${publicUrl}/btcpay`}</code>
      </Fact>
      <Fact name="Store ID in it">
        <code>{storeId}</code>
      </Fact>
    </>
  )
}

export function AllowedFrom({ ips }: { ips: readonly string[] | null }) {
  if (ips === null) return <>Any</>
  return <>{ips.length === 1 ? ips[0] : `${ips.length} IP addresses`}</>
}

export function NewKeyLink() {
  return (
    <a class="button fill" href="/dashboard/keys/new">
      <Icon name="plus" />
      New key
    </a>
  )
}
