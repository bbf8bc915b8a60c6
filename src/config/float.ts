import { createPublicKey, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { secret } from './fields.ts'
import type { Problem, Settings } from './live.ts'

/** The converter, and what refills the float. */

const PEM = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g

export const converterShape = {
  /**
   * `float`: conversions are filled from USDC that the platform has, and refills exchange the money at partners. Live
   * mode requires it. `simulator`: the converter of the sandbox fills and delivers.
   */
  CONVERTER: z.enum(['simulator', 'float']).default('simulator'),
  /** Whole USDC that conversions leave in the treasury. Below it they wait for a refill. */
  FLOAT_RESERVE_USDC: z.coerce.number().int().min(0).default(1000),
} as const

export const refillShape = {
  /** The company that exchanges the money at partners into USDC. `none`: operators exchange it and record each transaction. */
  FLOAT_REFILL: z.enum(['none', 'bridge']).default('none'),
  /** Days after which partners have settled what buyers paid: only that is exchanged. */
  FLOAT_SETTLEMENT_DAYS: z.coerce.number().int().min(0).max(60).default(3),
  /** The smallest refill, in whole USDC. Bridge has minimums. */
  FLOAT_REFILL_MIN_USDC: z.coerce.number().int().min(1).default(1000),
  BRIDGE_URL: z.url().default('https://api.bridge.xyz'),
  BRIDGE_API_KEY: secret.optional(),
  /** The id at Bridge of the company for which money is exchanged. */
  BRIDGE_CUSTOMER: z.string().min(1).optional(),
} as const

export const refillCallbackShape = {
  /**
   * Public keys (PEM) of the webhook endpoint at Bridge, several one after the other while a new one replaces an old
   * one. Without them refills are asked about every five minutes.
   */
  BRIDGE_WEBHOOK_KEYS: z
    .string()
    .transform(readPublicKeys)
    .refine((keys) => keys.length > 0, 'must be public keys in PEM: -----BEGIN PUBLIC KEY-----')
    .optional(),
} as const

/** Empty if anything in the text is no key that Bridge signs with. */
function readPublicKeys(pem: string): KeyObject[] {
  const found = pem.match(PEM) ?? []
  try {
    const keys = found.map((one) => createPublicKey(one))
    const isAll = pem.replaceAll(PEM, '').trim() === ''
    return isAll && keys.every(({ asymmetricKeyType: type }) => type === 'rsa') ? keys : []
  } catch {
    return []
  }
}

/** Returns the variables that the refill partner needs and that are not set. */
export function refillProblems(settings: Settings): Problem[] {
  if (settings['FLOAT_REFILL'] !== 'bridge') return []
  return ['BRIDGE_API_KEY', 'BRIDGE_CUSTOMER'].flatMap((name) =>
    settings[name] === undefined ? [{ name, must: 'must be set, because FLOAT_REFILL is bridge' }] : [],
  )
}
