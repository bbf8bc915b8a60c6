import { createHmac, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { z } from 'zod'
import { writeFailedSignIn } from '../../db/accounts/audit.ts'
import {
  answerChallenge,
  findPasskey,
  listPasskeys,
  type NewPasskey,
  passkeyWasUsed,
} from '../../db/accounts/passkeys.ts'
import type { Queryable, Tx } from '../../db/db.ts'
import type { Platform } from '../../domain/platform.ts'
import { isSameSecret } from '../../runtime/constant-time.ts'
import { digestOfToken } from './tokens.ts'

/**
 * Passkeys according to WebAuthn Level 3. Challenges are signed and not stored, so opening a page writes nothing. Each
 * challenge accepts one answer. User verification is required: a passkey is then two factors (NIST SP 800-63B-4).
 */
export type PasskeyDeps = {
  readonly publicUrl: string
  readonly pepper: string
  /** Unix milliseconds. */
  readonly clock: () => number
}

export type Purpose = 'sign-in' | `add ${string}` | `confirm ${string}`

/** Milliseconds: a person may take this long with the device. */
const CHALLENGE_MS = 600_000

/** False if the host is an IP address, for which browsers make no passkeys. */
export function arePasskeysPossible(publicUrl: string): boolean {
  return isIP(new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')) === 0
}

/** Options for the page that makes a passkey, as JSON for the browser. */
export async function creationOptions(
  deps: PasskeyDeps,
  db: Queryable,
  { platform, sessionId, person }: { platform: Platform; sessionId: string; person: { id: string; email: string } },
): Promise<string> {
  const { hostname } = new URL(deps.publicUrl)
  const known = await listPasskeys(db, person.id)
  const options = await generateRegistrationOptions({
    rpName: platform.name,
    rpID: hostname,
    userName: person.email,
    userID: new TextEncoder().encode(person.id),
    challenge: newChallenge(deps, `add ${sessionId}`),
    attestationType: 'none',
    excludeCredentials: known.map(({ id }) => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  return JSON.stringify(options)
}

/** Options for a page that requests a passkey, as JSON. Any person's passkey counts: the person is not known yet. */
export async function requestOptions(deps: PasskeyDeps, purpose: Purpose): Promise<string> {
  const options = await generateAuthenticationOptions({
    rpID: new URL(deps.publicUrl).hostname,
    challenge: newChallenge(deps, purpose),
    userVerification: 'required',
  })
  return JSON.stringify(options)
}

/** Base64url cannot contain NUL, which Postgres rejects. */
const credentialId = z.string().regex(/^[\w-]{1,1400}$/)

const registrationResponse = z.looseObject({
  id: credentialId,
  rawId: z.string(),
  type: z.literal('public-key'),
  clientExtensionResults: z.looseObject({}).default({}),
  response: z.looseObject({
    clientDataJSON: z.string(),
    attestationObject: z.string(),
    transports: z.array(z.string().max(30)).max(10).optional(),
  }),
})
const authenticationResponse = z.looseObject({
  id: credentialId,
  rawId: z.string(),
  type: z.literal('public-key'),
  clientExtensionResults: z.looseObject({}).default({}),
  response: z.looseObject({
    clientDataJSON: z.string(),
    authenticatorData: z.string(),
    signature: z.string(),
    userHandle: z.string().optional(),
  }),
})

/** Null if the answer matches no challenge of this server. */
export async function readNewPasskey(
  deps: PasskeyDeps,
  tx: Tx,
  { answer, sessionId }: { answer: string; sessionId: string },
): Promise<Pick<NewPasskey, 'id' | 'publicKey' | 'counter' | 'transports'> | null> {
  const response = registrationResponse.safeParse(parseJson(answer))
  if (!response.success) return null
  const challenge = await spendChallenge(deps, tx, {
    clientData: response.data.response.clientDataJSON,
    purpose: `add ${sessionId}`,
  })
  if (challenge === null) return null
  const verified = await nullIfThrown(
    verifyRegistrationResponse({
      response: response.data as Parameters<typeof verifyRegistrationResponse>[0]['response'],
      expectedChallenge: challenge,
      expectedOrigin: new URL(deps.publicUrl).origin,
      expectedRPID: new URL(deps.publicUrl).hostname,
    }),
  )
  if (verified?.verified !== true) return null
  const { id, publicKey, counter } = verified.registrationInfo.credential
  return { id, publicKey, counter, transports: response.data.response.transports ?? [] }
}

/**
 * `removed`: no person has this passkey any more. `failed`: no valid challenge is answered. Acts in the caller's
 * transaction.
 */
export async function readPasskeyAnswer(
  deps: PasskeyDeps,
  tx: Tx,
  { answer, purpose, ip }: { answer: string; purpose: Purpose; ip: string },
): Promise<{ personId: string; email: string } | 'removed' | 'failed'> {
  const response = authenticationResponse.safeParse(parseJson(answer))
  if (!response.success) return 'failed'
  const challenge = await spendChallenge(deps, tx, { clientData: response.data.response.clientDataJSON, purpose })
  if (challenge === null) return 'failed'
  const passkey = await findPasskey(tx, response.data.id)
  if (passkey === null) return 'removed'
  const verified = await nullIfThrown(
    verifyAuthenticationResponse({
      response: response.data as Parameters<typeof verifyAuthenticationResponse>[0]['response'],
      expectedChallenge: challenge,
      expectedOrigin: new URL(deps.publicUrl).origin,
      expectedRPID: new URL(deps.publicUrl).hostname,
      credential: { id: passkey.id, publicKey: new Uint8Array(passkey.publicKey), counter: passkey.counter },
    }),
  )
  if (verified?.verified !== true) {
    await writeFailedSignIn(tx, passkey, { how: 'passkey', ip })
    return 'failed'
  }
  const now = new Date(deps.clock()).toISOString()
  await passkeyWasUsed(tx, { id: passkey.id, counter: verified.authenticationInfo.newCounter, now })
  return { personId: passkey.personId, email: passkey.email }
}

/** 16 random bytes, its expiry, and a signature over both and the purpose. */
function newChallenge(deps: PasskeyDeps, purpose: Purpose): Uint8Array<ArrayBuffer> {
  const end = Buffer.alloc(8)
  end.writeBigUInt64BE(BigInt(deps.clock() + CHALLENGE_MS))
  const body = Buffer.concat([randomBytes(16), end])
  return new Uint8Array(Buffer.concat([body, signature(deps, purpose, body)]))
}

function signature({ pepper }: PasskeyDeps, purpose: Purpose, body: Buffer): Buffer {
  return createHmac('sha256', pepper).update(`passkey ${purpose}\n`).update(body).digest()
}

/** Null if the challenge is not from this server, has expired or was answered before. */
async function spendChallenge(
  deps: PasskeyDeps,
  tx: Tx,
  { clientData, purpose }: { clientData: string; purpose: Purpose },
): Promise<string | null> {
  const data = z
    .looseObject({ challenge: z.string() })
    .safeParse(parseJson(Buffer.from(clientData, 'base64url').toString('utf8')))
  if (!data.success) return null
  const bytes = Buffer.from(data.data.challenge, 'base64url')
  const [body, signed] = [bytes.subarray(0, 24), bytes.subarray(24)]
  if (body.length < 24 || !isSameSecret(signed.toString('hex'), signature(deps, purpose, body).toString('hex')))
    return null
  const end = Number(body.readBigUInt64BE(16))
  if (end < deps.clock()) return null
  const isFirst = await answerChallenge(tx, digestOfToken(data.data.challenge), new Date(end).toISOString())
  return isFirst ? data.data.challenge : null
}

async function nullIfThrown<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch {
    return null
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
