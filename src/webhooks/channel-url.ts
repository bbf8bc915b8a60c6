import { checkEndpointUrl, type TargetRules, urlRefusal } from './endpoint-url.ts'

export type ChatKind = 'discord' | 'slack'

/** Where incoming webhooks of the services are. Nothing else is called in the name of a channel. */
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

/** The URL of an incoming webhook as it is called, or what it must be. The exact test targets stand for the service in test mode. */
export function readChannelUrl(kind: ChatKind, text: string, rules: TargetRules): { url: string } | { must: string } {
  const check = checkEndpointUrl(text, rules)
  if (!check.ok) return { must: urlRefusal(check.reason, rules) }
  const { hosts, path, example } = PLACES[kind]
  const { url, testTarget } = check
  const isThere = testTarget || (hosts.includes(url.hostname) && url.port === '')
  if (!isThere || !path.test(url.pathname) || url.search !== '') return { must: `must look like ${example}` }
  return { url: url.href }
}
