import { REPORT_REASONS } from '../../domain/link/report.ts'
import { renderPage } from '../layout.tsx'
import { Icon } from '../look/icons.tsx'
import { FillLink, Head } from '../look/parts.tsx'
import type { Words } from '../messages/words.ts'

export type ReportView = { readonly title: string; readonly path: string; readonly livemode: boolean }

export function renderReport({ title, path, livemode }: ReportView, words: Words): string {
  const { t } = words
  return renderPage({
    words,
    title: `${t('report.heading')} · ${title}`,
    testMode: !livemode,
    brand: null,
    languages: { action: `${path}/language`, at: `${path}/report` },
    children: (
      <div class="sheet alone">
        <main id="main" class="card brand" tabIndex={-1}>
          <Head icon="shield" title={t('report.heading')} lead={t('report.lead')} />
          <p>
            <bdi>{title}</bdi>
          </p>
          <form class="fields" method="post" action={`${path}/report`} data-busy={t('link.busy')}>
            <fieldset>
              <legend class="label">{t('report.reason')}</legend>
              {REPORT_REASONS.map((reason, index) => (
                <label class="choice" key={reason}>
                  <input type="radio" name="reason" value={reason} required checked={index === 0} />
                  {t(`report.${reason}`)}
                </label>
              ))}
            </fieldset>
            <label>
              <span class="label">{t('report.details')}</span>
              <textarea name="details" rows={4} maxLength={1000} />
            </label>
            <p class="act">
              <button type="submit" class="button fill">
                <span>{t('report.send')}</span>
                <Icon name="arrow" points />
              </button>
            </p>
          </form>
        </main>
      </div>
    ),
  })
}

export function renderReported({ title, path, livemode }: ReportView, words: Words): string {
  const { t } = words
  return renderPage({
    words,
    title: `${t('report.thanks.heading')} · ${title}`,
    testMode: !livemode,
    brand: null,
    children: (
      <div class="sheet alone">
        <main id="main" class="card success" tabIndex={-1}>
          <Head icon="check" title={t('report.thanks.heading')} lead={t('report.thanks.text')} live />
          <FillLink href={path} icon="arrow">
            {t('report.back')}
          </FillLink>
        </main>
      </div>
    ),
  })
}
