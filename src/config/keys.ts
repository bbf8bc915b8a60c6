import { z } from 'zod'
import { Secret } from './secret.ts'

/** Keys of the payloads, each with its id: 32 bytes in the standard alphabet of base64, with padding. */
export const codecKeys = z
  .string()
  .regex(
    /^\s*[\w.-]{1,64}:[A-Za-z0-9+/]{43}=\s*(?:,\s*[\w.-]{1,64}:[A-Za-z0-9+/]{43}=\s*)*$/,
    'must be <id>:<32 bytes in base64>, several comma separated',
  )
  .refine((value) => {
    const ids = value.split(',').map((entry) => entry.trim().split(':')[0])
    return new Set(ids).size === ids.length
  }, 'must name each id once')
  .transform((value) => new Secret(value))

/** Required in every mode: no number of guesses finds it. */
export const codecToken = z
  .string()
  .min(32, 'must be at least 32 random characters: openssl rand -base64 32')
  .transform((value) => new Secret(value))

const retired = z
  .string()
  .transform((value) => new Secret(value))
  .optional()

/** Earlier secrets, comma separated: `pinrail secrets status` shows when they are no longer needed. */
export const retiredShape = { RETIRED_API_KEY_PEPPERS: retired, RETIRED_WEBHOOK_ENCRYPTION_KEYS: retired } as const
