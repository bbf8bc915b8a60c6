import { insertMail } from '../../db/accounts/mail.ts'
import type { Queryable } from '../../db/db.ts'
import type { Platform } from '../../domain/platform.ts'
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

export function signInMail(to: string, asked: { platform: Platform; url: string; code: string }): Mail {
  const { platform, url, code } = asked
  return {
    to,
    subject: `Your sign-in link for ${platform.name}`,
    text: `Sign in to ${platform.name} with this link:

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

type Invited = {
  readonly platform: Platform
  readonly by: string | null
  readonly account: string
  readonly url: string
}

export function invitationMail(to: string, { platform, by, account, url }: Invited): Mail {
  return {
    to,
    subject: `You are invited to an account at ${platform.name}`,
    text: `${by === null ? 'You are invited' : `${by} invites you`} to the account "${account}" at ${platform.name}.

Sign in with this address, and join:

${url}

The invitation expires after seven days.
`,
  }
}
