import { type TransferRequest, transferLink } from '../../../domain/settlement/deposit.ts'
import { checksumAddress } from '../../../evm/checksum.ts'
import { OutlineLink } from '../../kit/button.tsx'
import { CopyField } from '../../kit/copy.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { Fold } from '../../kit/fold.tsx'
import { Head } from '../../kit/head.tsx'
import { Qr } from '../../kit/qr.tsx'
import { Rail } from '../../kit/rail.tsx'
import type { Checkout } from '../checkout.ts'
import { type Shown, type ShownView, shortUsdc } from '../shown.tsx'
import { untilEnd } from './closing.tsx'
import { OtherWay } from './finish.tsx'

/**
 * The page on which USDC is paid to the deposit address of the payment: a code and a link for wallets, a code of the
 * address alone for wallets that cannot read a link, and the facts as text. All amounts are what is missing, so that a
 * buyer who sent a part does not pay the whole price again.
 */
export function Usdc({ checkout, words, view }: ShownView<'usdc'>) {
  const { t } = words
  const amount = shortUsdc(view.transfer.micro)
  const { received } = view
  return (
    <>
      <Head icon="usdc" title={t('usdc.heading', { amount })} lead={t('usdc.lead')} live />
      {received !== null && (
        <Facts>
          <Fact name={t('checking.received')}>{shortUsdc(received)} USDC</Fact>
          <Fact name={t('checking.missing')}>
            <b>{amount} USDC</b>
          </Fact>
        </Facts>
      )}
      <Transfer checkout={checkout} words={words} transfer={view.transfer} />
      <Rail
        label={t('rail.how')}
        words={words}
        stops={[
          {
            state: 'now',
            name: t('usdc.send'),
            time: untilEnd(checkout),
            why: t('usdc.only'),
          },
          { state: 'todo', name: t('usdc.follows') },
        ]}
      />
      {received === null && <OtherWay checkout={checkout} words={words} />}
      <Fold icon="help" title={t('usdc.which')}>
        <p>{t('usdc.which.text')}</p>
        <CopyField label={t('usdc.contract')} value={checksumAddress(view.transfer.token)} words={words} />
      </Fold>
    </>
  )
}

/** The transfer as a code, as a link that a wallet opens with one press, and as text. */
export function Transfer({ checkout, words, transfer }: Shown & { transfer: TransferRequest }) {
  const { t } = words
  const [address, token] = [checksumAddress(transfer.address), checksumAddress(transfer.token)]
  const link = transferLink({ ...transfer, address, token })
  const amount = shortUsdc(transfer.micro)
  return (
    <>
      <Qr text={link} name={t('usdc.code', { amount, merchant: checkout.shop.name })} />
      <OutlineLink href={link} icon="usdc">
        {t('usdc.open')}
      </OutlineLink>
      <SimulatedWallet checkout={checkout} link={link} />
      <CopyField label={t('usdc.exact')} value={amount} words={words} />
      <CopyField label={t('usdc.address')} value={address} words={words} />
      <Fold icon="usdc" title={t('usdc.bare')}>
        <p>{t('usdc.bare.text')}</p>
        <Qr text={address} name={t('usdc.bare')} />
      </Fold>
    </>
  )
}

/** For the merchant's developer, who has no wallet on the development chain. In English, as the sandbox bar. */
function SimulatedWallet({ checkout: { sandbox, url }, link }: { checkout: Checkout; link: string }) {
  if (!sandbox?.walletUrl) return null
  const query = new URLSearchParams({ pay: link, back: url })
  return (
    <div lang="en" dir="ltr">
      <OutlineLink href={`${sandbox.walletUrl}?${query}`} icon="usdc">
        Pay with the simulated wallet
      </OutlineLink>
    </div>
  )
}
