import { checkEndpointUrl, type TargetRules, urlRefusal } from './endpoint-url.ts'

export type ChatKind = 'discord' | 'slack'

/** URLs of the services' incoming webhooks. Nothing else is called for a channel. */
const PLACES: Readonly<Record<ChatKind, { hosts: readonly string[]; path: RegExp; example: string }>> = {
  discord: {
    hosts: ['discord.com', 'discordapp.com', 'ptb.discord.com', 'canary.discord.com'],
    path: /^\/api\/(?:v\d{1,2}\/)?webhooks\/\d{1,25}\/[\w-]{1,120}$/,
    example: 'https://discord.com/api/webhooks/123456789/…',
  },
  slack: {
    hosts: ['hooks.slack.com', 'hooks.slack-gov.com'],
    path: /^\/services\/[A-Z]\w{1,20}\/[A-Z]\w{1,20}\/\w{1,60}$/,
    example: 'https://hooks.slack.com/services/T…/B…/…',
  },
}

/**
 * Returns the URL of an incoming webhook, or what it must be. In test mode, the exact test targets replace the service.
 */
export function readChannelUrl(kind: ChatKind, text: string, rules: TargetRules): { url: string } | { must: string } {
  const check = checkEndpointUrl(text, rules)
  if (!check.ok) return { must: urlRefusal(check.reason, rules) }
  const { hosts, path, example } = PLACES[kind]
  const { url, testTarget } = check
  const isThere = testTarget || (hosts.includes(url.hostname) && url.port === '')
  if (!isThere || !path.test(url.pathname) || url.search !== '') return { must: `must look like ${example}` }
  return { url: url.href }
}
