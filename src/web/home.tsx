import type { SignUp } from '../domain/account/agreement.ts'
import type { Provider } from '../domain/methods.ts'
import { formatUsdc, type Percent, splitFee } from '../domain/money.ts'
import type { Platform } from '../domain/platform.ts'
import { Coverage } from './coverage.tsx'
import { curlText } from './kit/curl.tsx'
import { Icon, type IconName } from './kit/icon.tsx'
import { Main, renderSitePage } from './kit/site-page.tsx'

export type HomeView = {
  readonly testMode: boolean
  readonly publicUrl: string
  /** The providers with which buyers can pay here. */
  readonly ways: readonly Provider[]
  readonly feePercent: Percent
  readonly signUp: SignUp
  readonly linksWithoutAccount: boolean
  readonly platform: Platform
}

/** The text of the button to the sign-in, which also creates accounts where anybody can. */
export const signInText = (signUp: SignUp): string => (signUp === 'open' ? 'Create a free account' : 'Sign in')

export function renderHome(view: HomeView): string {
  const { testMode, publicUrl, ways, feePercent, signUp, linksWithoutAccount, platform } = view
  const children = (
    <Main>
      <section class="hero stack" aria-labelledby="what">
        <div>
          <h1 id="what">Charge in their currency. Receive USDC in your wallet.</h1>
          <p class="lead">
            Your buyer pays by bank, card or UPI. Minutes later the USDC is yours, on Polygon, in a wallet that only you
            control.
          </p>
          <p class="actions">
            <a class="button fill big" href="/sign-in">
              {signInText(signUp)}
            </a>
            {linksWithoutAccount && (
              <a class="button big" href="/links">
                Create a link without an account
              </a>
            )}
          </p>
          {testMode && <p class="hint">This is a test deployment: no real money moves.</p>}
        </div>
        <Journey feePercent={feePercent} />
      </section>
      <Values ways={ways} feePercent={feePercent} />
      <Developers publicUrl={publicUrl} />
      <Coverage ways={ways} />
    </Main>
  )
  return renderSitePage({ platform, title: 'Charge in fiat money, receive USDC', look: 'home', children })
}

type Fee = { readonly feePercent: Percent }

function Journey({ feePercent }: Fee) {
  const { gross, fee, net } = splitFee('57882574', feePercent)
  const steps = [
    ['user', '€49.90', 'Your buyer pays in their banking app', '0 s'],
    ['bank_transfer', 'Confirmed', 'Checked with the partner, rate locked', '+9 s'],
    ['convert', `${formatUsdc(gross)} USDC`, `Converted. Our fee: ${formatUsdc(fee)}, nothing else`, '+10 s'],
    ['check', `${formatUsdc(net)} USDC`, 'Final in your wallet, exactly once', '+47 s'],
  ] as const
  return (
    <figure class="card">
      <figcaption class="unseen">An example: from €49.90 to {formatUsdc(net)} USDC</figcaption>
      <ol class="timeline">
        {steps.map(([icon, what, text, at]) => (
          <li key={what} class={icon === 'check' ? 'success full' : 'brand'}>
            <span class="pin">
              <Icon name={icon} />
            </span>
            <div>
              <b>{what}</b>
              <p class="soft">{text}</p>
            </div>
            <p class="soft">{at}</p>
          </li>
        ))}
      </ol>
    </figure>
  )
}

type Ways = { readonly ways: readonly Provider[] }

function Values({ ways, feePercent }: Ways & Fee) {
  const countries = new Set(ways.flatMap((way) => way.countries ?? [])).size
  const anywhere = ways.some((way) => way.countries === null) ? ' USDC anywhere.' : ''
  const values = [
    [<a href="/pricing">{feePercent}%</a>, 'All inclusive: partner, conversion, gas. Only when a payment succeeds.'],
    ['Your wallet', 'No balance with us. Each payout is a transfer that you can check on chain.'],
    [`${countries} countries`, `Bank and cards in Europe, cards in the US, UPI in India.${anywhere}`],
    ['Exactly once', 'A payment is paid out once, even after a crash, a retry or a chain reorganization.'],
  ]
  return (
    <section class="stack four gap" aria-label="In short">
      {values.map(([name, text]) => (
        <div key={name}>
          <h2>{name}</h2>
          <p class="soft">{text}</p>
        </div>
      ))}
    </section>
  )
}

const BODY = { amount: '49.90', currency: 'EUR', provider: 'wallet_app', reference: '10482' }

function Developers({ publicUrl }: Pick<HomeView, 'publicUrl'>) {
  const answer = { id: 'pay_01m804v6xffqc8dqr8b1t1nxw5', status: 'created', checkout_url: `${publicUrl}/c/gyjqov8Y…` }
  const compact = curlText(`${publicUrl}/v1/payments`, { method: 'POST', body: BODY })
  const call = compact.replace(JSON.stringify(BODY), JSON.stringify(BODY, null, 2))
  return (
    <section class="stack even gap" aria-labelledby="developers">
      <div class="col">
        <h2 id="developers">One call, one redirect, one webhook</h2>
        <p>
          Create the payment, send the buyer to its checkout, mark the order paid when the webhook arrives. Pin a method
          and the buyer lands right on it.
        </p>
        <ul class="stack tight">
          <Doc href="/docs/first-payment" icon="book" name="First payment in 10 minutes" />
          <Doc href="/docs/api/payments" icon="code" name="API reference" />
          <Doc href="/docs/testing" icon="flask" name="Test mode with simulated partners" />
        </ul>
      </div>
      <div class="card">
        <header>
          <div>
            <h3>Create a payment</h3>
          </div>
          <code class="toned success">201</code>
        </header>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
        <pre tabIndex={0} aria-label="Example call">
          <code>{`${call}\n\n${JSON.stringify(answer, null, 2)}`}</code>
        </pre>
      </div>
    </section>
  )
}

function Doc({ href, icon, name }: { href: string; icon: IconName; name: string }) {
  return (
    <li>
      <a class="with-icon" href={href}>
        <Icon name={icon} />
        {name}
      </a>
    </li>
  )
}
