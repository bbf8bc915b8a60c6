import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'

const recorded = z.strictObject({
  /** The page that has the example. */
  source: z.url(),
  /** The fields of it that a driver may read, as published. */
  example: z.json(),
})

/** Reads each example in the driver's folder by the schema of its answer: a file without a schema fails. */
export function describeExamples(folder: string, schemas: Readonly<Record<string, z.ZodType>>): void {
  const at = new URL(`${folder}/examples/`, import.meta.url)
  describe(`The published examples in ${folder}/examples`, () => {
    test('each example has a schema that reads it', () => {
      expect(readdirSync(at).toSorted()).toEqual(Object.keys(schemas).toSorted())
    })

    test.each(Object.keys(schemas))('%s can be read', (name) => {
      const { example } = recorded.parse(JSON.parse(readFileSync(new URL(name, at), 'utf8')))
      expect(schemas[name]!.safeParse(example).error?.issues ?? []).toEqual([])
    })
  })
}
