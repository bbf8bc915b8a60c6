import { z } from 'zod'
import { Secret } from './secret.ts'

/** Types of values that several groups of variables use. */

export const secret = z
  .string()
  .min(1)
  .transform((value) => new Secret(value))

export const flag = z.enum(['true', 'false']).transform((value) => value === 'true')
