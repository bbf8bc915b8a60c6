import { isProviderName, PROVIDER_NAMES, type ProviderName } from '../domain/methods.ts'

/** How buyers know a partner: the name on its page, and the text on a statement. */
export type PartnerName = { readonly name: string; readonly statement: string }

/** Reads `<provider>:<name>:<statement>`; without a statement it is the name in capitals. Null for another form. */
function readName(entry: string): readonly [ProviderName, PartnerName] | null {
  const [, provider = '', name = '', statement] = /^(\w+):([^:]{1,40})(?::([^:]{1,40}))?$/.exec(entry) ?? []
  return isProviderName(provider) ? [provider, { name, statement: statement ?? name.toUpperCase() }] : null
}

/** Reads the names in PARTNER_NAMES; a partner without one is absent. */
export function readPartnerNames(entries: readonly string[]): ReadonlyMap<ProviderName, PartnerName> {
  return new Map(entries.flatMap((entry) => [readName(entry)].filter((named) => named !== null)))
}

/** Returns which names PARTNER_NAMES lacks, as a requirement; null if it is complete. */
export function missingNames(entries: readonly string[]): string | null {
  const names = readPartnerNames(entries)
  const missing = PROVIDER_NAMES.filter((provider) => !names.has(provider))
  return missing.length === 0
    ? null
    : `must have ${missing.map((provider) => `${provider}:<name>:<statement>`).join(',')}`
}
