import type { SignUp } from '../domain/account/agreement.ts'
import type { Provider } from '../domain/methods.ts'
import { formatUsdc, splitFee } from '../domain/money.ts'
import type { Platform } from '../domain/platform.ts'
import { Coverage } from './coverage.tsx'
import { signInText } from './home.tsx'
import { Card } from './kit/card.tsx'
import { PageHead } from './kit/page-head.tsx'
import { Main, renderSitePage } from './kit/site-page.tsx'
import { Table } from './kit/table.tsx'

export type PricingView = {
  readonly platform: Platform
  /** The fee of a merchant without a separate agreement. */
  readonly feePercent: string
  readonly signUp: SignUp
  /** The providers with which buyers can pay here. */
  readonly ways: readonly Provider[]
}

/** Micro-USDC. */
const EXAMPLES = ['10000000', '100000000', '1000000000'] as const

const INCLUDED = [
  'The payment partner: card, bank, wallet or UPI',
  'The conversion into USDC, at a rate that is locked when the partner confirms the money',
  'The gas of the transfer to your wallet',
  'Webhooks, payment links, receipts, members and notifications',
] as const

const FREE = [
  'The account, without a monthly fee',
  'Test mode',
  'Payments that fail, expire or are canceled',
  'Payments that are refunded before their USDC was sent',
] as const

export function renderPricing({ platform, feePercent, signUp, ways }: PricingView): string {
  const children = (
    <Main look="gap">
      <PageHead
        title={`${feePercent}% of each payment that succeeds`}
        lead="One fee, taken from the USDC before it is sent to you. Nothing else is taken from it."
        actions={
          <a class="button fill" href="/sign-in">
            {signInText(signUp)}
          </a>
        }
      />
      <div class="stack even">
        <List id="included" title="Included" items={INCLUDED} />
        <List id="free" title="Free" items={FREE} />
      </div>
      <section class="stack" aria-labelledby="examples">
        <h2 id="examples">What you receive, in USDC</h2>
        <div class="table-box">
          <Table
            caption="Examples, in USDC"
            rows={EXAMPLES.map((gross) => splitFee(gross, feePercent))}
            columns={[
              { name: 'Converted', look: 'num', cell: ({ gross }) => formatUsdc(gross) },
              { name: `Fee, ${feePercent}%`, look: 'num', cell: ({ fee }) => formatUsdc(fee) },
              { name: 'You receive', look: 'num', cell: ({ net }) => <b>{formatUsdc(net)}</b> },
            ]}
          />
        </div>
        <p class="hint">
          The buyer pays the price that you set. The buyer’s bank may charge its own fee, for example for foreign
          currencies. <a href="/docs/fees">Fees and rates in detail</a>
        </p>
      </section>
      <Coverage ways={ways} />
    </Main>
  )
  return renderSitePage({ platform, title: 'Pricing', children })
}

type ListProps = { readonly id: string; readonly title: string; readonly items: readonly string[] }

function List({ id, title, items }: ListProps) {
  return (
    <Card id={id} title={title}>
      <ul class="bullets">
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </Card>
  )
}
