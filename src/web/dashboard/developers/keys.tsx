import { Card } from '../../kit/card.tsx'
import { Curl, curlText } from '../../kit/curl.tsx'
import { Fact, Facts } from '../../kit/facts.tsx'
import { Field } from '../../kit/field.tsx'
import { PostButton, PostForm } from '../../kit/form.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Note } from '../../kit/note.tsx'
import { PageHead } from '../../kit/page-head.tsx'
import { RowLink, Table } from '../../kit/table.tsx'
import { Ago, spanText, Time } from '../../kit/time.tsx'
import { type Frame, renderFramed } from '../frame.tsx'
import {
  AllowedFrom,
  isInUse,
  type KeyShown,
  KeyState,
  KeyText,
  MayDo,
  NewKeyLink,
  PluginSettings,
} from './key-words.tsx'

export type KeysView = {
  readonly frame: Frame
  readonly keys: readonly KeyShown[]
  readonly scopes: readonly string[]
  /** True if this person can create and revoke keys. */
  readonly mayChange: boolean
  readonly now: string
  readonly publicUrl: string
}

export function renderKeys({ frame, keys, scopes, mayChange, now, publicUrl }: KeysView): string {
  return renderFramed({
    frame,
    title: 'API keys',
    children: (
      <>
        <PageHead
          title="API keys"
          lead="A key can create payments. It can never change where your money goes."
          actions={mayChange ? <NewKeyLink /> : undefined}
        />
        {keys
          .filter((key) => isBeingReplaced(key, now))
          .map((key) => (
            <StillWorks key={key.id} apiKey={key} now={now} />
          ))}
        {keys.length === 0 ? (
          <NoKeys mayChange={mayChange} />
        ) : (
          <div class="table-box">
            <KeyTable keys={keys} scopes={scopes} now={now} />
          </div>
        )}
        <Curl command={curlText(`${publicUrl}/v1/api_keys`)} />
      </>
    ),
  })
}

const SOON_MS = 7 * 86_400_000

function isBeingReplaced(key: KeyShown, now: string): boolean {
  const { expiresAt } = key
  return isInUse(key, now) && expiresAt !== null && Date.parse(expiresAt) - Date.parse(now) < SOON_MS
}

function StillWorks({ apiKey: { id, name, expiresAt, lastUsedAt }, now }: { apiKey: KeyShown; now: string }) {
  return (
    <Note
      tone="wait"
      icon="clock"
      strong={`“${name}” still works for ${spanText(Date.parse(expiresAt ?? now) - Date.parse(now))}`}
      actions={
        <a class="button" href={`/dashboard/keys/${id}`}>
          View it
        </a>
      }
    >
      {lastUsedAt === null ? (
        'It has never been used.'
      ) : (
        <>
          It was last used <Ago at={lastUsedAt} now={now} />.
        </>
      )}
    </Note>
  )
}

function KeyTable({ keys, scopes, now }: Pick<KeysView, 'keys' | 'scopes' | 'now'>) {
  return (
    <Table<KeyShown>
      caption="API keys, newest first"
      rows={keys}
      rowLook={(key) => (isInUse(key, now) ? '' : 'soft')}
      columns={[
        { name: 'Name', place: 'a', cell: ({ id, name }) => <RowLink href={`/dashboard/keys/${id}`}>{name}</RowLink> },
        { name: 'Key', place: 'c', cell: (key) => <KeyText apiKey={key} /> },
        { name: 'Permissions', cell: (key) => <MayDo scopes={key.scopes} all={scopes} /> },
        { name: 'Allowed IP addresses', cell: ({ allowedIps }) => <AllowedFrom ips={allowedIps} /> },
        {
          name: 'Last used',
          place: 'd',
          look: 'num',
          cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Ago at={lastUsedAt} now={now} />),
        },
        { name: 'Status', place: 'b', look: 'fit', cell: (key) => <KeyState apiKey={key} now={now} /> },
      ]}
    />
  )
}

function NoKeys({ mayChange }: { mayChange: boolean }) {
  return (
    <section class="card empty stack">
      <Icon name="key" />
      <h2>No keys yet</h2>
      <p>A key lets your shop create payments. {mayChange ? '' : 'An owner or a developer can create one.'}</p>
    </section>
  )
}

export type KeyView = Omit<KeysView, 'keys'> & {
  readonly apiKey: KeyShown
  readonly storeId: string
  /** Identifies the forms, so that sending them again changes nothing more. */
  readonly once: string
  readonly problem: string | null
}

export function renderKey(view: KeyView): string {
  const { frame, apiKey, mayChange, now, problem } = view
  return renderFramed({
    frame,
    title: apiKey.name,
    narrow: true,
    children: (
      <>
        <PageHead
          back={{ href: '/dashboard/keys', name: 'API keys' }}
          title={
            <>
              {apiKey.name} <KeyState apiKey={apiKey} now={now} />
            </>
          }
          lead={<KeyText apiKey={apiKey} />}
        />
        {problem !== null && <Note tone="problem" icon="warning" strong={problem} />}
        <KeyFacts view={view} />
        {mayChange && isInUse(apiKey, now) && <Rotate view={view} />}
        {mayChange && isInUse(apiKey, now) && <Revoke view={view} />}
      </>
    ),
  })
}

function KeyFacts({ view: { apiKey, storeId, publicUrl, now } }: { view: KeyView }) {
  const { scopes, allowedIps, createdAt, lastUsedAt, expiresAt, revokedAt } = apiKey
  return (
    <Card id="about" title="About this key">
      <Facts>
        <Fact name="Permissions">
          {scopes.map((scope) => (
            <span key={scope}>
              <span class="tag">{scope}</span>{' '}
            </span>
          ))}
        </Fact>
        <Fact name="Allowed IP addresses">{allowedIps === null ? 'Any IP address' : allowedIps.join(', ')}</Fact>
        <Fact name="Created">
          <Time at={createdAt} />
        </Fact>
        <Fact name="Last used">{lastUsedAt === null ? 'Never' : <Ago at={lastUsedAt} now={now} />}</Fact>
        <Fact name="Expires">{expiresAt === null ? 'Never' : <Time at={expiresAt} />}</Fact>
        <PluginSettings apiKey={apiKey} storeId={storeId} publicUrl={publicUrl} />
        {revokedAt !== null && (
          <Fact name="Revoked">
            <Time at={revokedAt} />
          </Fact>
        )}
      </Facts>
    </Card>
  )
}

/** The time in seconds for which the old key keeps working. */
const OVERLAPS = [
  [0, 'Not at all: it expires immediately'],
  [3600, 'For 1 hour'],
  [86_400, 'For 24 hours'],
  [604_800, 'For 7 days'],
] as const
const USUAL_OVERLAP = 86_400

function Rotate({ view: { frame, apiKey, once, publicUrl } }: { view: KeyView }) {
  const body = { overlap: USUAL_OVERLAP }
  return (
    <Card id="roll" title="Rotate" lead="A new key replaces it, with the same name, scopes and IP addresses.">
      <PostForm action={`/dashboard/keys/${apiKey.id}/roll`} csrf={frame.csrf} fields={{ once }}>
        <Field name="overlap" label="The old key keeps working">
          {(attributes) => (
            <select {...attributes}>
              {OVERLAPS.map(([seconds, text]) => (
                <option key={seconds} value={seconds} selected={seconds === USUAL_OVERLAP}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <p class="actions">
          <button type="submit" class="button fill">
            Rotate key
          </button>
        </p>
      </PostForm>
      {!apiKey.livemode && (
        <Curl command={curlText(`${publicUrl}/v1/api_keys/${apiKey.id}/rotate`, { method: 'POST', body })} />
      )}
    </Card>
  )
}

function Revoke({ view: { frame, apiKey, publicUrl } }: { view: KeyView }) {
  return (
    <Card
      id="revoke"
      title="Revoke"
      lead="Programs that use it are refused within a second. Payments in progress continue."
    >
      <PostButton action={`/dashboard/keys/${apiKey.id}/revoke`} csrf={frame.csrf} look="button danger">
        Revoke key
      </PostButton>
      <Curl command={curlText(`${publicUrl}/v1/api_keys/${apiKey.id}`, { method: 'DELETE' })} />
    </Card>
  )
}
