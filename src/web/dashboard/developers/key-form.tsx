import { Curl, curlText } from '../../kit/curl.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { ErrorSummary, Field, type FormErrors } from '../../kit/field.tsx'
import { FormEnd, PostForm } from '../../kit/form.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { Secret } from '../../kit/secret.tsx'
import { Time } from '../../kit/time.tsx'
import { firstCall } from '../first-steps.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import { type KeyShown, MayDo, PluginSettings } from './key-words.tsx'

const back = { href: '/dashboard/keys', name: 'API keys' }

export const KEY_PRESETS = {
  sell: { name: 'Sell', what: 'Create and read payments and links' },
  read: { name: 'Read only', what: 'For bookkeeping and reports' },
  shop: { name: 'Shop plugin', what: 'Also the plugin’s webhook, for plugins that are made for BTCPay Server' },
  agent: { name: 'Agent', what: 'Also lets an AI agent create payments, links and refunds through its tools' },
  all: {
    name: 'Everything',
    what: 'Also webhooks and settings, without tools for agents. In live mode, settings need a signed-in person.',
  },
  own: { name: 'Choose', what: 'Choose individual scopes' },
} as const
export type KeyPreset = keyof typeof KEY_PRESETS

/** The days until the key expires; 0 for never. */
export const KEY_DAYS = { '0': 'Never', '90': 'In 90 days', '365': 'In 1 year' } as const

export type KeyDraft = {
  readonly name: string
  readonly preset: KeyPreset
  readonly scopes: readonly string[]
  readonly allowedIps: string
  readonly days: keyof typeof KEY_DAYS
}

export type NewKeyView = {
  readonly frame: Frame
  readonly draft: KeyDraft
  readonly errors: FormErrors
  readonly scopes: readonly string[]
  readonly once: string
  readonly publicUrl: string
}

export function renderNewKey({ frame, draft, errors, scopes, once, publicUrl }: NewKeyView): string {
  const body = { name: 'Shop server', scopes: ['payments:read', 'payments:write'] }
  return renderFramed({
    frame,
    title: 'New API key',
    narrow: true,
    children: (
      <>
        <PageHead back={back} title="New API key" />
        <PostForm action="/dashboard/keys" csrf={frame.csrf} fields={{ once }} look="form card">
          <ErrorSummary errors={errors} />
          <Field name="name" label="Name" hint="Where will you use it?" errors={errors}>
            {(attributes) => <input {...attributes} required maxLength={100} value={draft.name} />}
          </Field>
          <Presets draft={draft} />
          <Scopes draft={draft} scopes={scopes} errors={errors} />
          <Field
            name="allowed_ips"
            label="Allowed IP addresses"
            hint="One per line. Leave empty to allow any IP address."
            optional
            errors={errors}
          >
            {(attributes) => <textarea {...attributes} class="mono" rows={2} value={draft.allowedIps} />}
          </Field>
          <Field name="days" label="Expires">
            {(attributes) => (
              <select {...attributes}>
                {Object.entries(KEY_DAYS).map(([days, text]) => (
                  <option key={days} value={days} selected={days === draft.days}>
                    {text}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <FormEnd back="/dashboard/keys">Create key</FormEnd>
        </PostForm>
        {frame.testMode && <Curl command={curlText(`${publicUrl}/v1/api_keys`, { method: 'POST', body })} />}
      </>
    ),
  })
}

function Presets({ draft }: { draft: KeyDraft }) {
  return (
    <fieldset>
      <legend>Permissions</legend>
      <div class="options">
        {Object.entries(KEY_PRESETS).map(([preset, { name, what }]) => (
          <label key={preset} class="option">
            <input type="radio" name="preset" value={preset} checked={preset === draft.preset} />
            <span>
              <b>{name}</b>
              <small>{what}</small>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** Visible while `Choose` is selected, and always in browsers without `:has()`. */
function Scopes({ draft, scopes, errors }: Pick<NewKeyView, 'draft' | 'scopes' | 'errors'>) {
  const error = errors['scopes']
  return (
    <fieldset class="own-scopes" id="scopes" tabIndex={-1}>
      <legend>Scopes</legend>
      {error !== undefined && <p class="error">{error}</p>}
      <div class="options">
        {scopes.map((scope) => (
          <label key={scope} class="choice">
            <input type="checkbox" name="scope" value={scope} checked={draft.scopes.includes(scope)} />
            <code>{scope}</code>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

export type KeyMadeView = {
  readonly frame: Frame
  readonly apiKey: KeyShown
  /** The secret of the key, which only this page shows. */
  readonly text: string
  /** The time at which the replaced key expires; null if the key replaces none. */
  readonly oldUntil: string | null
  readonly scopes: readonly string[]
  readonly storeId: string
  readonly publicUrl: string
}

export function renderKeyMade({ frame, apiKey, text, oldUntil, scopes, storeId, publicUrl }: KeyMadeView): string {
  const { name, allowedIps, expiresAt } = apiKey
  return renderFramed({
    frame,
    title: 'Your new key',
    narrow: true,
    children: (
      <>
        <PageHead back={back} title="Your new key" />
        <Secret
          id="key"
          label={name}
          what="key"
          value={text}
          lead="You will not see it again. Keep it on your server, never in a page or an app."
        >
          <Facts>
            <Fact name="Permissions">
              <MayDo scopes={apiKey.scopes} all={scopes} />
            </Fact>
            <Fact name="Allowed IP addresses">{allowedIps === null ? 'Any' : allowedIps.join(', ')}</Fact>
            <Fact name="Expires">{expiresAt === null ? 'Never' : <Time at={expiresAt} />}</Fact>
            <PluginSettings apiKey={apiKey} storeId={storeId} publicUrl={publicUrl} />
            {oldUntil !== null && (
              <Fact name="The old key works until">
                <Time at={oldUntil} />
              </Fact>
            )}
          </Facts>
          {apiKey.scopes.includes('payments:write') && (
            <Curl title="Try it" open command={firstCall(publicUrl, text)} />
          )}
          <p class="actions">
            <a class="button" href="/dashboard/keys">
              I have saved it
            </a>
          </p>
        </Secret>
      </>
    ),
  })
}
