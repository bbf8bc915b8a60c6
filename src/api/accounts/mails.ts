import { insertMail } from '../../db/accounts/mail.ts'
import type { Queryable } from '../../db/db.ts'
import type { SecretBox } from '../../webhooks/secret-box.ts'

export type Mail = { readonly to: string; readonly subject: string; readonly text: string }

export type MailDeps = {
  readonly secretBox: SecretBox
  readonly newMailId: () => string
}

/** Stores the mail for the worker, which sends it. Times are ISO 8601. */
export async function queueMail(
  deps: MailDeps,
  db: Queryable,
  { mail, now, expiresAt }: { mail: Mail; now: string; expiresAt: string },
): Promise<void> {
  const id = deps.newMailId()
  await insertMail(db, { id, sealed: deps.secretBox.seal(JSON.stringify(mail), id), now, expiresAt })
}

export function signInMail(to: string, { url, code }: { url: string; code: string }): Mail {
  return {
    to,
    subject: `Your sign-in link for Pinrail`,
    text: `Sign in to Pinrail with this link:

${url}

It works once, for 15 minutes, in the browser in which you asked for it.
If you read this on another device, type this code there: ${code}

If you did not ask for this, ignore this e-mail. Nobody was signed in.
`,
  }
}

/** `what`: the change, as it follows "Confirm". */
export function confirmMail(to: string, { url, code, what }: { url: string; code: string; what: string }): Mail {
  return {
    to,
    subject: `Confirm ${what}`,
    text: `Somebody who is signed in with your e-mail address asked for ${what}.

If it was you, confirm it with this link:

${url}

It works once, for 15 minutes, in the browser in which you asked for it.
If you read this on another device, type this code there: ${code}

If it was not you, sign in and choose "Sign out everywhere else": ${new URL(url).origin}/dashboard/account
`,
  }
}

export function invitationMail(to: string, invited: { by: string | null; account: string; url: string }): Mail {
  return {
    to,
    subject: 'You are invited to an account at Pinrail',
    text: `${invited.by === null ? 'You are invited' : `${invited.by} invites you`} to the account "${invited.account}" at Pinrail.

Sign in with this address, and join:

${invited.url}

The invitation expires after seven days.
`,
  }
}
