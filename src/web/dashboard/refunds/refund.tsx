import type { Hex } from '../../../domain/hex.ts'
import { isZero, type MicroUsdc } from '../../../domain/money.ts'
import { checkoutUrl, explorerUrl, type Payment } from '../../../domain/payment/payment-object.ts'
import { isRefundOver, type Refund } from '../../../domain/refund/refund.ts'
import { renderFunding, type TypedData } from '../../../domain/refund/refund-object.ts'
import { transferLink } from '../../../domain/settlement/deposit.ts'
import { checksumAddress } from '../../../evm/checksum.ts'
import { shortUsdc } from '../../checkout/shown.tsx'
import { CopyButton } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { Copy, CopyField, shorten } from '../../kit/copy.tsx'
import { Curl, curlText } from '../../kit/curl.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { Field, type FormErrors } from '../../kit/field.tsx'
import { Fold } from '../../kit/fold.tsx'
import { PostButton, PostForm } from '../../kit/form.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Note } from '../../kit/note.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { Qr } from '../../kit/qr.tsx'
import { timeText } from '../../kit/time.tsx'
import { wordsIn } from '../../messages/words.ts'
import { type Frame, renderFramed } from '../frame.tsx'
import { CodedAmount, Fiat, Usdc } from '../payment-words.tsx'
import { Stops } from '../stops.tsx'
import {
  canSignAgain,
  countMissing,
  describeRefund,
  findFundingStep,
  REFUSAL_STEPS,
  RefundState,
  refundText,
} from './refund-words.tsx'

export type RefundView = {
  readonly frame: Frame
  readonly refund: Refund
  readonly payment: Payment
  /** The stamp of the payment: the page reloads its content when it changes. */
  readonly stamp: string
  /** True if this person can pay for refunds, and cancel them. */
  readonly mayPay: boolean
  readonly cancelable: boolean
  /** The payments whose payouts pay for it. */
  readonly deductions: readonly { readonly paymentId: string; readonly micro: MicroUsdc }[]
  readonly errors: FormErrors
  readonly problem: string | null
  readonly now: string
  readonly publicUrl: string
}

const ENGLISH = wordsIn('en')

export function renderRefundPage(view: RefundView): string {
  const { frame, refund, payment, stamp, now, problem, publicUrl } = view
  const { id, status, fundFrom } = refund
  return renderFramed({
    frame,
    title: `Refund of ${refundText(refund)}`,
    follow: `${new URL(checkoutUrl(publicUrl, payment.checkoutToken)).pathname}/live?knows=${stamp}`,
    children: (
      <>
        <PageHead
          back={{ href: `/dashboard/payments/${payment.id}`, name: 'Payment' }}
          title={
            <>
              <span class="huge">{refundText(refund)}</span> <RefundState status={status} />
            </>
          }
          lead={<span class="lead">{describeRefund(refund, now)}</span>}
          actions={<Cancel view={view} />}
        >
          <Stops
            stops={[
              { name: 'Created', at: refund.createdAt },
              ...(fundFrom === 'payment' ? [] : [{ name: 'USDC final', at: refund.fundedAt }]),
              { name: 'Partner asked', at: refund.askedAt },
              { name: 'Buyer refunded', at: refund.succeededAt },
            ]}
          />
        </PageHead>
        {problem !== null && <Note tone="problem" icon="warning" strong={problem} />}
        <div class="cols">
          <div class="col">
            <Money view={view} />
          </div>
          <div class="side">
            {fundFrom !== 'payment' && <Costs refund={refund} />}
            <Details refund={refund} />
            <Curl command={curlText(`${publicUrl}/v1/refunds/${id}`)} />
          </div>
        </div>
      </>
    ),
  })
}

/** The USDC of the merchant, or that the payment’s own money goes back. */
function Money({ view }: { view: RefundView }) {
  const { refund } = view
  if (refund.fundFrom === 'wallet')
    return refund.status === 'awaiting_funds' ? <Funding view={view} /> : <Transfers refund={refund} />
  if (refund.fundFrom === 'next_payouts') return <Deducted view={view} />
  return (
    <Card id="own" title="Before the settlement">
      <p>
        The whole payment goes back to the buyer through the partner. You pay nothing for it, there is no fee, and you
        do not receive the payment’s USDC.
      </p>
    </Card>
  )
}

/** The USDC that payouts lack for the refund, and its end. */
function Deducted({ view: { refund, deductions } }: { view: RefundView }) {
  const { receivedMicro, status } = refund
  const isReleased = isRefundOver(status) && status !== 'succeeded'
  return (
    <Card id="deducted" title="From your payouts">
      <div data-changing={status === 'awaiting_funds' ? '' : undefined}>
        <Facts>
          <Fact name="Deducted from payouts that are final">
            {isZero(receivedMicro) ? 'Nothing' : <Usdc micro={receivedMicro} />}
          </Fact>
          {deductions.map(({ paymentId, micro }) => (
            <Fact key={paymentId} name={<a href={`/dashboard/payments/${paymentId}`}>{shorten(paymentId, 12, 5)}</a>}>
              <Usdc micro={micro} />
            </Fact>
          ))}
        </Facts>
        {isReleased && deductions.length > 0 && (
          <p class="hint">The refund has taken nothing. What was deducted is released to your wallet, once a day.</p>
        )}
      </div>
    </Card>
  )
}

function Cancel({ view: { cancelable, refund, frame } }: { view: RefundView }) {
  if (!cancelable) return null
  return (
    <PostButton action={`/dashboard/refunds/${refund.id}/cancel`} csrf={frame.csrf} look="button danger">
      Cancel refund
    </PostButton>
  )
}

/** The ways to pay for the refund. `data-changing`: the page asks for changes at intervals, because a refusal changes no payment. */
function Funding({ view }: { view: RefundView }) {
  const { refund, now } = view
  const step = findFundingStep(refund, now)
  return (
    <div class="stack" data-changing>
      {step === 'refused' && <Refusal refund={refund} />}
      {step === 'sending' && refund.signedAt !== null && (
        <Card id="sending" title="Signed">
          <p>{`You signed at ${timeText(refund.signedAt, 'seconds')} UTC. We send the transfer and pay the gas.`}</p>
          <Fold title="Pay in another way" icon="wallet">
            <Transfer refund={refund} />
          </Fold>
        </Card>
      )}
      {(step === 'open' || (step === 'refused' && canSignAgain(refund))) && view.mayPay && <Signing view={view} />}
      {(step === 'open' || step === 'refused' || step === 'part') && (
        <Card id="send" title={step === 'part' ? 'Send the missing USDC' : 'Or send USDC'}>
          <Transfer refund={refund} />
        </Card>
      )}
      {(step === 'opening' || step === 'late') && <Transfers refund={refund} />}
    </div>
  )
}

function Refusal({ refund: { fundingRefusal } }: { refund: Refund }) {
  if (fundingRefusal === null) return null
  const { what, todo } = REFUSAL_STEPS[fundingRefusal]
  return (
    <Note tone="problem" icon="warning" strong={what}>
      {todo}
    </Note>
  )
}

/** With JavaScript and a wallet in the browser, one button signs and sends the form. Without, a signature is pasted. */
function Signing({ view: { refund, frame, errors } }: { view: RefundView }) {
  const { id, wallet } = refund
  const data = renderFunding(refund).typed_data
  if (data === null) return null
  const action = `/dashboard/refunds/${id}/fund`
  return (
    <Card id="sign" title="Sign with your wallet" lead="Without gas: we send the transfer and pay for it.">
      <p>
        The wallet of the payment signs:{' '}
        <Copy value={checksumAddress(wallet)} short={shorten(checksumAddress(wallet), 6, 4)} />
      </p>
      <PostForm action={action} csrf={frame.csrf} fields={{ signature: '' }} data-sign={JSON.stringify(data)} hidden>
        <div class="row">
          <button type="submit" class="button fill big">
            Sign with wallet
          </button>
        </div>
        <p
          class="error"
          role="alert"
          hidden
          data-account={`Your wallet shows another account. Choose ${shorten(checksumAddress(wallet), 6, 4)} in it, and press the button again.`}
          data-refused="You refused the request in your wallet. Press the button again to sign."
          data-pending="Your wallet already shows a request. Open it, and answer that one."
          data-chain="Your wallet does not know this network. Add Polygon in your wallet, and press the button again."
        >
          Your wallet did not sign. Open it, and press the button again. If it cannot sign, send USDC to the address
          below.
        </p>
      </PostForm>
      <p class="hint" data-unsigned>
        This browser has no wallet that can sign. Open this page in a browser with your wallet, sign elsewhere, or send
        USDC.
      </p>
      <Elsewhere data={data} action={action} frame={frame} errors={errors} />
    </Card>
  )
}

type ElsewhereProps = Pick<RefundView, 'frame' | 'errors'> & { readonly data: TypedData; readonly action: string }

function Elsewhere({ data, action, frame, errors }: ElsewhereProps) {
  return (
    <Fold title="Sign elsewhere, for example with a Safe" icon="code" open={errors['signature'] !== undefined}>
      <div class="stack tight">
        <p class="hint">
          Sign this data (EIP-712), exactly as it is, and paste the signature. A contract wallet such as a Safe signs by
          EIP-1271.
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
        <pre tabIndex={0} aria-label="Data to sign">
          <code>{JSON.stringify(data, null, 2)}</code>
        </pre>
        <p class="actions">
          <CopyButton value={JSON.stringify(data)}>Copy the data</CopyButton>
        </p>
        <PostForm action={action} csrf={frame.csrf}>
          <Field name="signature" label="Signature" errors={errors}>
            {(attributes) => (
              <textarea
                {...attributes}
                class="mono"
                rows={3}
                autocomplete="off"
                spellcheck={false}
                placeholder="0x…"
                required
              />
            )}
          </Field>
          <div class="row">
            <button type="submit" class="button">
              Send the signature
            </button>
          </div>
        </PostForm>
      </div>
    </Fold>
  )
}

/** All amounts are what is missing, so that nobody who sent a part sends the whole again. */
function Transfer({ refund }: { refund: Refund }) {
  const { chainId, place } = refund
  if (place === null) return null
  const [address, token] = [checksumAddress(place.address), checksumAddress(refund.token)]
  const micro = countMissing(refund)
  const amount = shortUsdc(micro)
  const link = transferLink({ chainId, token, address, micro })
  return (
    <div class="stack">
      <Qr text={link} name={`QR code of the transfer of ${amount} USDC`} />
      <a class="button" href={link}>
        Open in a wallet app
      </a>
      <CopyField label="Exactly this amount, in USDC" value={amount} words={ENGLISH} />
      <CopyField label="To this address, on Polygon" value={address} words={ENGLISH} />
      <p class="hint">
        From any wallet that holds native USDC on Polygon. What is too much, or too late, goes back to the wallet of the
        payment, not to the sender.
      </p>
      <Fold title="Which USDC?" icon="help">
        <CopyField label="Contract of the token" value={token} words={ENGLISH} />
      </Fold>
    </div>
  )
}

/** The USDC that arrived, and that went back. */
function Transfers({ refund }: { refund: Refund }) {
  const { requiredMicro, receivedMicro, status, fundingTxHash, returnedTxHash } = refund
  const taken = status === 'succeeded' ? requiredMicro : '0'
  return (
    <Card id="usdc" title="Your USDC">
      <Facts>
        <Fact name="Arrived">{isZero(receivedMicro) ? 'Nothing' : <Usdc micro={receivedMicro} />}</Fact>
        <Fact name="Taken by the refund">{isZero(taken) ? 'Nothing' : <Usdc micro={taken} />}</Fact>
        <TransferFact name="Last transfer to the refund" refund={refund} txHash={fundingTxHash} />
        <TransferFact name="Last transfer back to your wallet" refund={refund} txHash={returnedTxHash} />
      </Facts>
      {isRefundOver(status) && returnedTxHash === null && isMoreMicro(receivedMicro, taken) && (
        <p class="hint">The rest goes back to the wallet of the payment. That takes a few minutes.</p>
      )}
    </Card>
  )
}

const isMoreMicro = (one: MicroUsdc, other: MicroUsdc): boolean => BigInt(one) > BigInt(other)

type TransferFactProps = { readonly name: string; readonly refund: Refund; readonly txHash: Hex | null }

function TransferFact({ name, refund: { chainId }, txHash }: TransferFactProps) {
  if (txHash === null) return null
  const explorer = explorerUrl({ chainId, transfer: { txHash } })
  return (
    <Fact name={name}>
      <Copy value={txHash} short={shorten(txHash)} />
      {explorer !== null && (
        <a class="with-icon" href={explorer} rel="noreferrer">
          <span class="unseen">View on a block explorer</span>
          <Icon name="out" />
        </a>
      )}
    </Fact>
  )
}

function Costs({ refund }: { refund: Refund }) {
  const { amount, rate, requiredMicro, expiresAt, status } = refund
  return (
    <Card id="costs" title="Money">
      <table class="calc">
        <caption class="unseen">What the refund costs</caption>
        <tbody>
          <tr>
            <th scope="row">The buyer gets back</th>
            <td>
              <Fiat money={amount} />
            </td>
          </tr>
          <tr>
            <th scope="row">
              {`Rate for 1 ${amount.currency}, locked${status === 'awaiting_funds' ? ` until ${timeText(expiresAt, 'time')} UTC` : ''}`}
            </th>
            <td>
              <CodedAmount number={rate} code="USDC" />
            </td>
          </tr>
          <tr>
            <th scope="row">You pay</th>
            <td>
              <Usdc micro={requiredMicro} />
            </td>
          </tr>
        </tbody>
      </table>
      <p class="hint">The fee of the payment is not given back. We pay the gas and the partner’s cost of the refund.</p>
    </Card>
  )
}

function Details({ refund }: { refund: Refund }) {
  const { id, number, reason, wallet, metadata } = refund
  return (
    <Card id="det" title="Details">
      <Facts>
        {reason !== null && <Fact name="Reason">{reason}</Fact>}
        <Fact name="Refund">
          <Copy value={id} short={shorten(id, 12, 5)} />
        </Fact>
        <Fact name="Number">{number}</Fact>
        <Fact name="Wallet">
          <Copy value={checksumAddress(wallet)} short={shorten(checksumAddress(wallet), 6, 4)} />
        </Fact>
        {Object.entries(metadata ?? {}).map(([key, value]) => (
          <Fact key={key} name={key}>
            <code>{value}</code>
          </Fact>
        ))}
      </Facts>
    </Card>
  )
}
