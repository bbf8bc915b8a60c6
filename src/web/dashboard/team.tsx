import { ROLES, type Role } from '../../domain/account/roles.ts'
import { plural } from '../../domain/plural.ts'
import { Card } from '../kit/card.tsx'
import { ErrorSummary, Field, type FormErrors } from '../kit/field.tsx'
import { PostButton, PostForm } from '../kit/form.tsx'
import { Icon } from '../kit/icon.tsx'
import { PageHead } from '../kit/page-head.tsx'
import { Table } from '../kit/table.tsx'
import { Recent } from '../kit/time.tsx'
import { type Frame, renderFramed, roleName } from './frame.tsx'

export type TeamMember = {
  readonly personId: string
  readonly email: string
  readonly role: Role
  readonly seenAt: string | null
  readonly passkeys: number
}
export type TeamView = {
  readonly frame: Frame
  readonly members: readonly TeamMember[]
  readonly invitations: readonly { readonly email: string; readonly role: Role; readonly expiresAt: string }[]
  readonly audit: readonly AuditLine[]
  /** True if this person can change the team. */
  readonly owns: boolean
  readonly now: string
  readonly email: string
  readonly errors?: FormErrors
}
export type AuditLine = {
  readonly id: string
  readonly at: string
  readonly who: string
  readonly what: string
  readonly ip: string
}

export function renderTeam(view: TeamView): string {
  const { frame, audit, now, owns } = view
  return renderFramed({
    frame,
    title: 'Team',
    children: (
      <>
        <PageHead title="Team" lead="Who can do what. Every action is logged." />
        <ErrorSummary errors={view.errors} />
        <div class="table-box">
          <Members view={view} />
        </div>
        <div class={owns ? 'cols' : 'stack'}>
          <div class="col">
            <section class="stack tight" aria-labelledby="au">
              <h2 id="au">Audit log</h2>
              <div class="table-box">
                <Table<AuditLine>
                  caption="Audit log, newest first"
                  rows={audit}
                  columns={[
                    { name: 'When', place: 'd', look: 'fit', cell: ({ at }) => <Recent at={at} now={now} /> },
                    {
                      name: 'Who did what',
                      place: 'a',
                      cell: ({ who, what }) => (
                        <>
                          <b>{who}</b>: {what}
                        </>
                      ),
                    },
                    { name: 'From', place: 'c', cell: ({ ip }) => <span class="soft">{ip}</span> },
                  ]}
                />
              </div>
            </section>
          </div>
          {owns && <Invite view={view} />}
        </div>
      </>
    ),
  })
}

type Row = Omit<TeamMember, 'passkeys'> & { readonly passkeys: number | null; readonly until: string | null }

function Members({ view: { members, invitations, frame, owns, now } }: { view: TeamView }) {
  const invited = invitations.map(({ email, role, expiresAt }): Row => {
    return { personId: '', email, role, seenAt: null, passkeys: null, until: expiresAt }
  })
  const rows: Row[] = [...members.map((member): Row => ({ ...member, until: null })), ...invited]
  return (
    <Table<Row>
      caption="People"
      rows={rows}
      columns={[
        { name: 'E-mail', place: 'a', cell: ({ email }) => <b>{email}</b> },
        { name: 'Role', place: 'b', cell: ({ role }) => roleName(role) },
        {
          name: 'Sign-in',
          place: 'c',
          cell: ({ passkeys, until }) =>
            until !== null ? (
              <span class="soft">Invited</span>
            ) : passkeys === 0 ? (
              'By link'
            ) : (
              plural(passkeys ?? 0, 'passkey')
            ),
        },
        {
          name: 'Last seen',
          place: 'd',
          look: 'num',
          cell: ({ seenAt, until }) =>
            until !== null ? (
              <>
                until <Recent at={until} now={now} />
              </>
            ) : seenAt === null ? (
              '–'
            ) : (
              <Recent at={seenAt} now={now} />
            ),
        },
        {
          name: <span class="unseen">Actions</span>,
          look: 'num',
          cell: (row) =>
            !owns ? null : row.until !== null ? (
              <PostButton
                action="/dashboard/team/withdraw"
                csrf={frame.csrf}
                fields={{ email: row.email }}
                look="button text"
              >
                Withdraw<span class="unseen"> the invitation of {row.email}</span>
              </PostButton>
            ) : row.email !== frame.email ? (
              <MemberActions row={row} csrf={frame.csrf} />
            ) : null,
        },
      ]}
    />
  )
}

function MemberActions({ row: { personId, email, role }, csrf }: { row: Row; csrf: string }) {
  return (
    <details class="dropdown">
      <summary class="mini" aria-label={`Actions for ${email}`}>
        <Icon name="dots" />
      </summary>
      <div class="menu stack tight">
        {ROLES.filter((other) => other !== role).map((other) => (
          <PostButton
            key={other}
            action="/dashboard/team/role"
            csrf={csrf}
            fields={{ person: personId, role: other }}
            look="button text"
          >
            Make {roleName(other).toLowerCase()}
          </PostButton>
        ))}
        <PostButton action="/dashboard/team/remove" csrf={csrf} fields={{ person: personId }} look="button danger">
          Remove
        </PostButton>
      </div>
    </details>
  )
}

function Invite({ view: { frame, email, errors } }: { view: TeamView }) {
  return (
    <aside class="side" aria-label="Invite">
      <Card id="invite" title="Invite someone">
        <PostForm action="/dashboard/team/invite" csrf={frame.csrf}>
          <Field name="email" label="E-mail" errors={errors}>
            {(attributes) => <input {...attributes} type="email" autocomplete="off" required value={email} />}
          </Field>
          <Field
            name="role"
            label="Role"
            hint="Owner: everything. Developer: keys, webhooks. Support: payments. Viewer: read only."
          >
            {(attributes) => (
              <select {...attributes}>
                {ROLES.toReversed().map((role) => (
                  <option key={role} value={role}>
                    {roleName(role)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <button type="submit" class="button fill">
            Send invitation
          </button>
        </PostForm>
      </Card>
    </aside>
  )
}
