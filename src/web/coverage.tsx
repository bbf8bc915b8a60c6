import { METHOD_LABELS, type Provider, type ProviderUsed } from '../domain/methods.ts'
import { formatAmount, type Money } from '../domain/money.ts'
import { Icon } from './kit/icon.tsx'
import { Table } from './kit/table.tsx'

const WAY_ICONS = { wallet_app: 'banking_app', card_partner: 'card', local_partner: 'upi', crypto: 'usdc' } as const

export function Coverage({ ways }: { readonly ways: readonly Provider[] }) {
  const isMeasured = ways.some(({ measuredSeconds }) => measuredSeconds !== null)
  return (
    <section class="stack gap" aria-labelledby="ways">
      <h2 id="ways">How buyers can pay</h2>
      <div class="table-box">
        <Table
          caption="Ways to pay"
          rows={ways}
          columns={[
            { name: 'Method', place: 'a', cell: (way) => <WayName name={way.name} /> },
            { name: 'Buyers in', place: 'c', cell: ({ countries }) => listPlaces(countries) },
            { name: 'Currencies', cell: ({ currencies }) => listNames(currencies) },
            { name: 'Minimum', look: 'num', cell: ({ minimum }) => whole(minimum) },
            { name: 'Maximum', look: 'num', place: 'b', cell: ({ maximum }) => whole(maximum) },
            { name: 'Usual time', look: 'num', place: 'd', cell: ({ estimatedSeconds: { p50 } }) => about(p50) },
            ...(isMeasured ? [{ name: 'To final USDC', look: 'num', cell: toFinal } as const] : []),
          ]}
        />
      </div>
      {isMeasured && (
        <p class="hint">
          To final USDC: from the moment at which a buyer continues to the final transfer, measured over the last 30
          days. Half of the payments were as fast as the first figure, and 95 in 100 as the second.
        </p>
      )}
    </section>
  )
}

function WayName({ name }: { name: ProviderUsed }) {
  return (
    <span class="with-icon">
      <Icon name={WAY_ICONS[name]} />
      {METHOD_LABELS[WAY_ICONS[name]]}
    </span>
  )
}

const REGIONS = new Intl.DisplayNames('en', { type: 'region' })

function listPlaces(countries: Provider['countries']): string {
  if (countries === null) return 'Everywhere'
  return countries.length > 3 ? `${countries.length} countries` : countries.map((code) => REGIONS.of(code)).join(', ')
}

const listNames = (currencies: readonly string[]): string =>
  currencies.length > 4 ? String(currencies.length) : currencies.join(', ')

const whole = (money: Money): string =>
  `${Number(formatAmount(money)).toLocaleString('en', { maximumFractionDigits: 0 })} ${money.currency}`

const toFinal = ({ measuredSeconds: seconds }: Provider): string =>
  seconds === null ? '–' : `${about(seconds.p50)} · ${about(seconds.p95)}`

const about = (seconds: number): string => (seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`)
