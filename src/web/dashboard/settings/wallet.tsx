import type { Payment } from '../../../domain/payment/payment-object.ts'
import { plural } from '../../../domain/plural.ts'
import { Card } from '../../kit/card.tsx'
import { shorten } from '../../kit/copy.tsx'
import { Curl, curlText } from '../../kit/curl.tsx'
import { Icon, type IconName } from '../../kit/icon.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { RowLink, Table } from '../../kit/table.tsx'
import { Recent, Time } from '../../kit/time.tsx'
import { renderFramed } from '../frame.tsx'
import { Usdc } from '../payment-words.tsx'
import { Address } from './address.tsx'
import { Planned } from './wallet-planned.tsx'
import type { WalletShown, WalletView } from './wallet-view.ts'

export function renderWallet(view: WalletView): string {
  const { frame, wallet, mayChange, publicUrl } = view
  return renderFramed({
    frame,
    title: 'Wallet',
    children: (
      <>
        <PageHead
          title="Wallet"
          lead="Your money goes straight here. We never hold it for you."
          actions={mayChange && wallet === null ? <ChangeLink text="Set the wallet" /> : undefined}
        />
        {wallet === null ? (
          <NoWallet mayChange={mayChange} />
        ) : (
          <>
            <Planned view={view} />
            <div class="cols">
              <div class="col">
                <Current view={view} wallet={wallet} />
                <Payouts view={view} />
              </div>
              <About view={view} />
            </div>
          </>
        )}
        <Curl command={curlText(`${publicUrl}/v1/settings/wallet`)} />
      </>
    ),
  })
}

function ChangeLink({ text }: { text: string }) {
  return (
    <a class="button" href="/dashboard/wallet/change">
      {text}
    </a>
  )
}

function NoWallet({ mayChange }: { mayChange: boolean }) {
  return (
    <section class="card empty stack">
      <Icon name="wallet" />
      <h2>No wallet yet</h2>
      <p>Add a wallet to take payments. {mayChange ? '' : 'An owner of the account sets it.'}</p>
    </section>
  )
}

function Current({ view: { received, mayChange }, wallet }: { view: WalletView; wallet: WalletShown }) {
  return (
    <Card
      id="wn"
      title="USDC goes to"
      lead={
        <>
          since <Time at={wallet.since} style="date" />
        </>
      }
      actions={mayChange ? <ChangeLink text="Change" /> : undefined}
    >
      <Address address={wallet.address} />
      <ul class="reasons stack even">
        <Reason icon="check">Checksum valid (EIP-55)</Reason>
        <Reason icon={wallet.proved ? 'check' : 'circle_minus'}>
          {wallet.proved ? 'Ownership proved by a signature' : 'Ownership not proved by a signature'}
        </Reason>
        <Reason icon={received > 0 ? 'check' : 'circle_minus'}>{`${plural(received, 'payout')} received`}</Reason>
      </ul>
      <footer>Polygon · USDC</footer>
    </Card>
  )
}

function Reason({ icon, children }: { icon: IconName; children: string }) {
  return (
    <li>
      <Icon name={icon} />
      <span>{children}</span>
    </li>
  )
}

function Payouts({ view: { payouts, now } }: { view: WalletView }) {
  if (payouts.length === 0) return null
  return (
    <Card id="po" title="Latest payouts" flush>
      <Table<Payment>
        caption="Latest payouts"
        rows={payouts}
        columns={[
          {
            name: 'Amount',
            look: 'num fit',
            place: 'a',
            cell: ({ id, usdc }) => (
              <RowLink href={`/dashboard/payments/${id}`}>{usdc === null ? '–' : <Usdc micro={usdc.net} />}</RowLink>
            ),
          },
          { name: 'For', place: 'c', cell: ({ reference, id }) => reference ?? shorten(id) },
          {
            name: 'Final',
            place: 'd',
            look: 'num',
            cell: ({ succeededAt }) => (succeededAt === null ? '–' : <Recent at={succeededAt} now={now} />),
          },
        ]}
      />
    </Card>
  )
}

function About({ view: { history, frame } }: { view: WalletView }) {
  return (
    <aside class="side" aria-label="About the wallet">
      <Card id="pr" title="What protects it">
        <ul class="reasons">
          <Reason icon="passkey">Each change needs a new confirmation by passkey or e-mail link.</Reason>
          <Reason icon="bell">Everybody in your team is notified immediately.</Reason>
          <Reason icon="clock">
            {frame.testMode
              ? 'In live mode a change waits 24 hours, and anybody who was notified can stop it. In test mode it takes effect immediately.'
              : 'It waits 24 hours. Anybody who was notified can stop it.'}
          </Reason>
          <Reason icon="lock">Payments already created keep their wallet.</Reason>
        </ul>
      </Card>
      {history.length > 0 && (
        <Card id="hi" title="History">
          <ul class="reasons">
            {history.map(({ id, at, who, what }) => (
              <li key={id}>
                <Icon name="wallet" />
                <span>
                  {what} by {who}, <Time at={at} />
                </span>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </aside>
  )
}
