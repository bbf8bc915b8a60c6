import type { Platform } from '../../../domain/platform.ts'
import { Field } from '../../kit/field.tsx'
import { renderBoxPage } from '../../kit/site-page.tsx'

export function renderReportAsk(platform: Platform, { link, wrong }: { link: string; wrong: boolean }): string {
  const errors = wrong ? { link: 'This is not the URL of a payment link. It looks like …/l/k7Qm2vXa9B.' } : {}
  return renderBoxPage(
    platform,
    'Report a payment link',
    <>
      <p>Did you receive a link that you do not trust? Send us its URL. You do not have to say who you are.</p>
      <form class="stack" method="get" action="/links/report">
        <Field name="link" label="URL of the link" errors={errors}>
          {(attributes) => <input {...attributes} required maxLength={200} autocomplete="off" value={link} />}
        </Field>
        <button type="submit" class="button fill big">
          Continue
        </button>
      </form>
    </>,
  )
}
