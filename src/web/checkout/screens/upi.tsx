import { FillLink, QuietLink } from '../../kit/button.tsx'
import { CopyField } from '../../kit/copy.tsx'
import { Fold } from '../../kit/fold.tsx'
import { Head } from '../../kit/head.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Qr } from '../../kit/qr.tsx'
import { Rail } from '../../kit/rail.tsx'
import type { MessageKey } from '../../messages/translate.ts'
import { getPartner, type Shown, type ShownView } from '../shown.tsx'
import { untilEnd } from './closing.tsx'
import { OtherWay } from './finish.tsx'
import { UPI_APPS } from './upi-apps.ts'

/**
 * The page on which UPI is paid: a code on a desktop, one link on Android, which lets the buyer choose the app, and a
 * row for each app on iOS, which does not. The page asks for no UPI address.
 */
export function Upi({ checkout, words, view }: ShownView<'upi'>) {
  const { t } = words
  const { device } = checkout
  const amount = words.money(view.attempt.asked)
  const isOpened = view.intentUri.startsWith('upi:')
  const on = isOpened ? device : 'desktop'
  return (
    <>
      <Head icon="upi" title={t(`upi.heading.${on}`, { amount })} lead={t(`upi.lead.${on}`, { amount })} live />
      {on === 'desktop' && <Code checkout={checkout} words={words} view={view} large />}
      {on === 'ios' && <Apps checkout={checkout} words={words} view={view} />}
      <UpiRail checkout={checkout} words={words} view={view} on={on} />
      {on === 'android' && (
        <FillLink href={view.intentUri} icon="upi">
          {t('upi.open', { amount })}
        </FillLink>
      )}
      <OtherWay checkout={checkout} words={words} />
      {on === 'android' && (
        <Fold icon="phone" title={t('upi.other_phone')}>
          <Code checkout={checkout} words={words} view={view} />
        </Fold>
      )}
      {on === 'desktop' && (
        <Fold icon="phone" title={t('upi.no_camera')}>
          <p>{t('upi.no_camera.text')}</p>
          <CopyField label={t('phone.link')} value={checkout.url} words={words} />
          {hasPartnerPage(checkout, view) && (
            <QuietLink href={view.attempt.redirectUrl}>
              {t('upi.partner_page', { partner: getPartner(checkout, view.attempt).name })}
            </QuietLink>
          )}
        </Fold>
      )}
    </>
  )
}

type UpiShown = ShownView<'upi'>

/** A partner that gives only a UPI link has no page. Then the order's URL is this page. */
const hasPartnerPage = ({ url }: UpiShown['checkout'], { attempt }: UpiShown['view']): boolean =>
  attempt.redirectUrl !== url

const STOPS = {
  desktop: { first: 'upi.stop.scan', second: 'upi.follows', why: 'upi.follows.why' },
  android: { first: 'upi.stop.approve', second: 'plan.receipt', why: 'upi.follows.why' },
  ios: { first: 'upi.stop.approve', second: 'upi.come_back', why: 'upi.come_back.why' },
} as const satisfies Record<Shown['checkout']['device'], Record<string, MessageKey>>

function UpiRail({ checkout, words, on }: UpiShown & { on: Shown['checkout']['device'] }) {
  const { t } = words
  const { first, second, why } = STOPS[on]
  return (
    <Rail
      label={t('rail.how')}
      words={words}
      stops={[
        {
          state: 'now',
          name: t(first),
          time: untilEnd(checkout),
          why: t('upi.shows', { name: checkout.partners.local_partner.name }),
        },
        { state: 'todo', name: t(second), why: t(why) },
      ]}
    />
  )
}

function Code({ checkout, words, view, large = false }: UpiShown & { large?: boolean }) {
  const name = words.t('upi.code', { amount: words.money(view.attempt.asked), merchant: checkout.shop.name })
  return <Qr text={view.intentUri} name={name} size={large ? 'large' : 'usual'} />
}

function Apps({ checkout, words, view }: UpiShown) {
  const { t } = words
  const query = view.intentUri.slice(view.intentUri.indexOf('?'))
  return (
    <div class="ways">
      <ul>
        {UPI_APPS.map(({ name, opens }) => (
          <li key={name}>
            <a class="way one-line" href={`${opens}${query}`}>
              <span class="pin" aria-hidden="true">
                {name[0]}
              </span>
              <span class="pair">
                <span class="name">{name}</span>
              </span>
              <Icon name="next" points />
            </a>
          </li>
        ))}
      </ul>
      <details>
        <summary>
          {t('upi.another_app')} <Icon name="down" />
        </summary>
        <div class="fold-in">
          <QuietLink href={view.intentUri}>{t('upi.phone_chooses')}</QuietLink>
          <Code checkout={checkout} words={words} view={view} />
          <p class="hint">{t('upi.save_code')}</p>
        </div>
      </details>
    </div>
  )
}
