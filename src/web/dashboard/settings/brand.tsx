import { darkPalette, lightPalette, PINE } from '../../kit/brand.ts'
import { contrast, type Hex } from '../../kit/color.ts'
import { Curl, curlText } from '../../kit/curl.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { ErrorSummary, Field, type FormErrors } from '../../kit/field.tsx'
import { PostForm } from '../../kit/form.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Logo } from '../../kit/logo.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { type Frame, renderFramed } from '../frame.tsx'

export type BrandDraft = { readonly name: string; readonly color: string; readonly support_email: string }

export type BrandView = {
  readonly frame: Frame
  readonly draft: BrandDraft
  readonly brand: Hex | null
  readonly logo: string | null
  readonly errors: FormErrors
  readonly mayChange: boolean
  readonly publicUrl: string
}

const PREVIEW = '/dashboard/brand/preview'

export function renderBrand(view: BrandView): string {
  const { frame, draft, brand, mayChange, publicUrl } = view
  const body = { color: brand ?? PINE, support_email: draft.support_email || null }
  return renderFramed({
    frame,
    title: 'Brand',
    children: (
      <>
        <PageHead title="Brand" lead="How buyers see you at the checkout, on links and on receipts." />
        <div class="cols maker">
          {mayChange ? <Form view={view} /> : <Seen view={view} />}
          <aside class="side" aria-label="Preview">
            <h2>Your page</h2>
            <div class="phone">
              <iframe
                src={`${PREVIEW}?${new URLSearchParams(draft)}`}
                title="Preview: what your buyer sees on a phone"
                inert
              />
            </div>
          </aside>
        </div>
        <Curl command={curlText(`${publicUrl}/v1/settings/brand`, { method: 'PATCH', body })} />
      </>
    ),
  })
}

function Form({ view: { frame, draft, brand, logo, errors } }: { view: BrandView }) {
  return (
    <PostForm
      action="/dashboard/brand"
      csrf={frame.csrf}
      look="form"
      enctype="multipart/form-data"
      data-preview={PREVIEW}
    >
      <ErrorSummary errors={errors} />
      <fieldset>
        <legend>Shop</legend>
        <Field name="name" label="Name" errors={errors}>
          {(attributes) => <input {...attributes} required maxLength={100} value={draft.name} />}
        </Field>
        <Field
          name="support_email"
          label="Support e-mail"
          hint="Buyers contact you here when they need help."
          optional
          errors={errors}
        >
          {(attributes) => <input {...attributes} type="email" maxLength={254} value={draft.support_email} />}
        </Field>
      </fieldset>
      <fieldset>
        <legend>Look</legend>
        <LogoFields draft={draft} logo={logo} errors={errors} />
        <Field name="color" label="Color" hint="Leave it empty to use the platform’s color." optional errors={errors}>
          {(attributes) => (
            <div class="inline">
              <input type="color" value={brand ?? PINE} aria-label="Pick the color" data-fills="color" hidden />
              <input
                {...attributes}
                class="mono"
                maxLength={7}
                placeholder={PINE}
                autocomplete="off"
                spellcheck={false}
                value={draft.color}
              />
            </div>
          )}
        </Field>
        <Readable brand={brand ?? PINE} />
      </fieldset>
      <div class="row">
        <button type="submit" class="button fill big">
          Save
        </button>
      </div>
    </PostForm>
  )
}

function LogoFields({ draft, logo, errors }: Pick<BrandView, 'draft' | 'logo' | 'errors'>) {
  return (
    <>
      <Field
        name="logo"
        label="Logo"
        hint="PNG, JPEG or WebP, ideally square, up to 48 KB. It is shown on white, also in dark mode."
        optional
        errors={errors}
      >
        {(attributes) => (
          <div class="inline">
            {logo !== null && <Logo shop={{ name: draft.name, logo }} alt="Your logo now" />}
            <input {...attributes} type="file" accept="image/png,image/jpeg,image/webp" />
          </div>
        )}
      </Field>
      {logo !== null && (
        <label class="choice">
          <input type="checkbox" name="remove_logo" value="yes" />
          Remove the logo: the first letter of the name replaces it
        </label>
      )}
    </>
  )
}

/** Shows the contrast of the colors that are derived from the brand's color. */
function Readable({ brand }: { brand: Hex }) {
  const light = lightPalette(brand)
  const dark = darkPalette(brand)
  const ratio = (a: Hex, b: Hex): string => contrast(a, b).toFixed(1)
  const own = ratio('#ffffff', brand)
  const shade = light['brand-ink']
  return (
    <ul class="reasons">
      <li>
        <Icon name="check" />
        {shade === brand
          ? `White text on ${brand}: ${own} to 1. Good.`
          : `White text on ${brand} would be ${own} to 1. Buttons use the shade ${shade}: ${ratio('#ffffff', shade)} to 1.`}
      </li>
      <li>
        <Icon name="check" />
        {`In the dark buttons use ${dark['brand-ink']}: ${ratio(dark['on-brand'], dark['brand-ink'])} to 1.`}
      </li>
    </ul>
  )
}

function Seen({ view: { draft, logo } }: { view: BrandView }) {
  return (
    <div class="card">
      <Facts>
        <Fact name="Name">{draft.name}</Fact>
        <Fact name="Support e-mail">{draft.support_email || 'None'}</Fact>
        <Fact name="Logo">
          {logo === null ? 'The first letter of the name' : <Logo shop={{ name: draft.name, logo }} alt="The logo" />}
        </Fact>
        <Fact name="Color">{draft.color || 'The platform’s own'}</Fact>
      </Facts>
      <p class="hint">An owner of the account can change it.</p>
    </div>
  )
}
