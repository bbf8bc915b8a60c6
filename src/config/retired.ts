import { z } from 'zod'
import { Secret } from './secret.ts'

const secret = z
  .string()
  .transform((value) => new Secret(value))
  .optional()

/** Earlier secrets, comma separated: `pinrail secrets status` says when they are needed no more. */
export const retiredShape = { RETIRED_API_KEY_PEPPERS: secret, RETIRED_WEBHOOK_ENCRYPTION_KEYS: secret } as const
