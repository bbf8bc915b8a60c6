import { z } from 'zod'
import { Secret } from './secret.ts'

/** Forms of values that several groups of variables have. */

export const secret = z
  .string()
  .min(1)
  .transform((value) => new Secret(value))

export const flag = z.enum(['true', 'false']).transform((value) => value === 'true')
