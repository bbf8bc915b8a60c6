import { REPORT_REASONS } from '../../domain/link/report.ts'
import type { Platform } from '../../domain/platform.ts'
import { FillButton, FillLink } from '../kit/button.tsx'
import { renderBuyerPage, Sheet } from '../kit/buyer-page.tsx'
import { Field } from '../kit/field.tsx'
import { PostForm } from '../kit/form.tsx'
import { Head } from '../kit/head.tsx'
import type { Words } from '../messages/words.ts'

export type ReportView = {
  readonly platform: Platform
  readonly title: string
  readonly path: string
  readonly livemode: boolean
}

export function renderReport({ platform, title, path, livemode }: ReportView, words: Words): string {
  const { t } = words
  return renderBuyerPage({
    platform,
    words,
    title: `${t('report.heading')} · ${title}`,
    testMode: !livemode,
    brand: null,
    languages: { action: `${path}/language`, at: `${path}/report` },
    children: (
      <Sheet tone="brand">
        <Head icon="shield" title={t('report.heading')} lead={t('report.lead')} />
        <p>
          <bdi>{title}</bdi>
        </p>
        <PostForm action={`${path}/report`} busy={t('link.busy')} look="form">
          <fieldset>
            <legend>{t('report.reason')}</legend>
            {REPORT_REASONS.map((reason, index) => (
              <label class="choice" key={reason}>
                <input type="radio" name="reason" value={reason} required checked={index === 0} />
                {t(`report.${reason}`)}
              </label>
            ))}
          </fieldset>
          <Field name="details" label={t('report.details')}>
            {(attributes) => <textarea {...attributes} rows={4} maxLength={1000} />}
          </Field>
          <FillButton>{t('report.send')}</FillButton>
        </PostForm>
      </Sheet>
    ),
  })
}

export function renderReported({ platform, title, path, livemode }: ReportView, words: Words): string {
  const { t } = words
  return renderBuyerPage({
    platform,
    words,
    title: `${t('report.thanks.heading')} · ${title}`,
    testMode: !livemode,
    brand: null,
    children: (
      <Sheet tone="success">
        <Head icon="check" title={t('report.thanks.heading')} lead={t('report.thanks.text')} live />
        <FillLink href={path} icon="arrow">
          {t('report.back')}
        </FillLink>
      </Sheet>
    ),
  })
}
