import { randomUUID } from 'node:crypto'
import { z } from 'zod'

/** A form that is sent again with this idempotency key gets the first response. */
export const onceField = z
  .string()
  .regex(/^[\w-]{1,64}$/)
  .default(() => randomUUID())

/** Checkboxes with one name: a browser sends one value as text, several as a list, and none not at all. */
export const severalField = z.union([z.string().transform((one) => [one]), z.array(z.string())]).default([])

/** Seconds for which the old key or secret still works. */
export const overlapField = z
  .string()
  .regex(/^\d{1,6}$/)
  .default('86400')
