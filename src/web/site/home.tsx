import { renderSite } from './document.tsx'
import { SiteIcon } from './icons.tsx'
import { Card } from './parts.tsx'

/** What it is, for people who have opened the address of the deployment. */
export function renderHome({ testMode }: { testMode: boolean }): string {
  return renderSite(
    'Charge in fiat money, receive USDC',
    'home',
    <main id="main" class="page" tabIndex={-1}>
      <div class="in">
        <section class="hero stack even" aria-labelledby="what">
          <div>
            <h1 id="what">Buyers pay as they always do. You receive USDC.</h1>
            <p class="lead">
              Charge by card, banking app, UPI or transfer. The money arrives in your own wallet on Polygon, final,
              usually within a minute or two.
            </p>
            <p class="actions">
              <a class="btn fill big" href="/sign-in">
                Start free
              </a>
              <a class="btn big" href="/links">
                Create a payment link
              </a>
            </p>
            {testMode && <p class="hint">This is a test deployment: no real money moves.</p>}
          </div>
          <Journey />
        </section>
      </div>
    </main>,
  )
}

function Journey() {
  return (
    <Card id="way" title="The way of one payment">
      <ol class="timeline">
        <li>
          <span class="pin">
            <SiteIcon name="user" />
          </span>
          <div>
            <b>€49.90</b>
            <p class="soft">Paid by your buyer, by the method you pinned or one they pick</p>
          </div>
        </li>
        <li>
          <span class="pin">
            <SiteIcon name="convert" />
          </span>
          <div>
            <b>57.882574 USDC</b>
            <p class="soft">After conversion at the rate that was locked. Our fee of 4.5 % is 2.604715.</p>
          </div>
        </li>
        <li class="success full">
          <span class="pin">
            <SiteIcon name="check" />
          </span>
          <div>
            <b>55.277859 USDC</b>
            <p class="soft">In your wallet, once and for good</p>
          </div>
        </li>
      </ol>
    </Card>
  )
}
