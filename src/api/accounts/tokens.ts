import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto'

/** Only its digest is stored. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

export function newCode(): string {
  return String(randomInt(1_000_000)).padStart(6, '0')
}

/** SHA-256. A slow hash would not protect 256 random bits better (OWASP ASVS 5.0, 6.5.2). */
export function digestOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** A code has few digits, so it is hashed together with its link and with a key that is not in the database. */
export function digestOfCode(code: string, browserDigest: Buffer, pepper: string): Buffer {
  return createHmac('sha256', pepper).update('sign-in code').update(browserDigest).update(code).digest()
}

/** Only the owner of the cookie can compute it. A form of one account cannot change another that was chosen later. */
export function formToken(sessionToken: string, merchantId: string | null): string {
  return createHash('sha256')
    .update(`form ${sessionToken} ${merchantId ?? ''}`)
    .digest('base64url')
}
