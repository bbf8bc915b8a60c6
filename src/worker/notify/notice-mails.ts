/** What people of an account are told by mail, by the kind of the notice. */

export type Told = {
  readonly account: string
  readonly kind: string
  readonly data: Readonly<Record<string, unknown>>
  readonly testMode: boolean
  readonly publicUrl: string
  /** Where one press stops the change; null: there is nothing to stop. */
  readonly stopUrl: string | null
}

export function noticeMail(told: Told): { readonly subject: string; readonly text: string } {
  const { account, testMode } = told
  const { subject, text } = WORDS[told.kind]?.(told) ?? other(told)
  return { subject: `${account}${testMode ? ' (test)' : ''}: ${subject}`, text: `${text}\n` }
}

type Words = (told: Told) => { readonly subject: string; readonly text: string }

const WORDS: Readonly<Record<string, Words>> = {
  'wallet.changed': (told) => (told.data['at'] === null ? changed(told) : planned(told)),
  'wallet.kept': ({ account, publicUrl }) => ({
    subject: 'the change of the wallet was stopped',
    text: `The planned change of the wallet of "${account}" was stopped. Payments go to the wallet of before.

${publicUrl}/dashboard/wallet`,
  }),
  'payment_link.claimed': ({ account, data, publicUrl }) => ({
    subject: 'a payment link was brought into the account',
    text: `The payment link "${String(data['title'])}" was brought into "${account}".
Its money goes to the wallet ${String(data['wallet'])}, and will go on doing so.

This is not a wallet of yours? Then pause the link: buyers read your name on its page.

${publicUrl}/dashboard/links/${String(data['link'])}`,
  }),
  'channel.added': (told) => channel(told, 'was added', 'It is told of payments from now on.'),
  'channel.removed': (told) => channel(told, 'was removed', 'It is told nothing from now on.'),
  'channel.broken': (told) =>
    channel(told, 'takes nothing', `${String(told.data['reason'])}. What waits for it is kept for 30 days.`),
  'api_key.created': (told) => apiKey(told, 'was created', 'Whoever has it can use it from now on.'),
  'api_key.revoked': (told) => apiKey(told, 'was revoked', 'Programs that use it are refused from now on.'),
  'sign_in.new': ({ data, publicUrl }) => ({
    subject: 'sign-in from a new device',
    text: `Somebody signed in as ${String(data['email'])} with a browser that we have not seen before.
It came from the address ${String(data['ip'])}.

It was not you? End every session, and look at your passkeys:

${publicUrl}/dashboard/account`,
  }),
  'payout.held': ({ account, data, publicUrl }) => ({
    subject: 'a payout is held',
    text: `The payout of a payment of "${account}" is held: ${HELD[String(data['reason'])] ?? 'we look at it'}.
The money is safe. It does not arrive until this is settled.

${publicUrl}/dashboard/payments/${String(data['id'])}`,
  }),
  'webhook_endpoint.disabled': ({ data, publicUrl }) => ({
    subject: 'a webhook endpoint was switched off',
    text: `We switched off the webhook endpoint ${String(data['url'])}.

${
  data['reason'] === 'gone'
    ? 'It answered 410, which says that it is not there any more.'
    : 'For five days it took no event.'
}
Payments go on. Events that it misses are kept, and can be sent when it is on again.
Switch it on, with or without sending what it missed:

${publicUrl}/dashboard/webhooks/${String(data['endpoint'])}`,
  }),
}

const HELD: Readonly<Record<string, string>> = {
  blacklisted: 'the issuer of USDC refuses your wallet. Set another wallet, and write to us',
  refused: 'the transfer was refused. We look at it',
  policy: 'a rule of ours wants a person to look at it',
  operator: 'a person of ours looks at it',
}

function apiKey({ account, data, publicUrl }: Told, what: string, follows: string) {
  return {
    subject: `an API key ${what}`,
    text: `The API key "${String(data['name'])}" (${String(data['key'])}) of "${account}" ${what}.
${follows}

You did not expect this? Revoke it, and look who did it:

${publicUrl}/dashboard/keys`,
  }
}

function channel({ account, data, publicUrl }: Told, what: string, follows: string) {
  return {
    subject: `a notification channel ${what}`,
    text: `The notification channel "${String(data['name'])}" (${String(data['kind'])}) of "${account}" ${what}.
${follows}

You did not expect this? Look at it here:

${publicUrl}/dashboard/notifications`,
  }
}

function changed({ account, data, publicUrl }: Told) {
  return {
    subject: 'the wallet was set',
    text: `The wallet of "${account}" is now ${String(data['address'])}.
New payments go there. Payments that exist keep their wallet.

You did not expect this? Look who did it, and set it back:

${publicUrl}/dashboard/wallet`,
  }
}

function planned({ account, data, publicUrl, stopUrl }: Told) {
  return {
    subject: 'the wallet is about to change',
    text: `Somebody asked to change the wallet of "${account}".
New wallet: ${String(data['address'])}
From: ${String(data['at'])}

Until then payments go to the wallet of today. Payments that exist keep it.

You did not expect this? Stop it with one press:

${stopUrl ?? `${publicUrl}/dashboard/wallet`}

Everybody in the team was told, and anybody can stop it.`,
  }
}

function other({ account, kind, publicUrl }: Told) {
  return {
    subject: kind.replaceAll(/[._]/g, ' '),
    text: `Something happened in "${account}": ${kind.replaceAll(/[._]/g, ' ')}.\n\n${publicUrl}/dashboard`,
  }
}
