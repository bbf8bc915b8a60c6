import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { z } from 'zod'
import { openJournal } from '../../src/sandbox/journal.ts'

const schema = z.object({ n: z.int() })
let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'))
  file = join(folder, 'new', 'journal.jsonl')
})
afterEach(() => rmSync(folder, { recursive: true }))

const open = async () => {
  const seen: number[] = []
  const journal = await openJournal(file, schema, (entry) => seen.push(entry.n))
  return { journal, seen }
}

test('what was appended is there again, in order', async () => {
  const first = await open()
  await Promise.all(Array.from({ length: 200 }, (_, n) => first.journal.append({ n })))
  await first.journal.append({ n: 200 }, { n: 201 })
  await first.journal.close()
  const second = await open()
  expect(second.seen).toEqual(Array.from({ length: 202 }, (_, n) => n))
  await second.journal.close()
})

test('an entry is in the file when the append resolves', async () => {
  const { journal } = await open()
  await journal.append({ n: 7 })
  expect(readFileSync(file, 'utf8')).toBe('[{"n":7}]\n')
  await journal.close()
})

test('the state knows an entry at once, and settled waits for the disk', async () => {
  const { journal, seen } = await open()
  void journal.append({ n: 1 })
  expect(seen).toEqual([1])
  await journal.settled()
  expect(readFileSync(file, 'utf8')).toContain('"n":1')
  await journal.close()
})

test('a line that was cut off by a crash is dropped, and the journal goes on after it', async () => {
  const first = await open()
  await first.journal.append({ n: 1 })
  await first.journal.close()
  appendFileSync(file, '[{"n":2},{"n"')
  const second = await open()
  expect(second.seen).toEqual([1])
  await second.journal.append({ n: 3 })
  await second.journal.close()
  const third = await open()
  expect(third.seen).toEqual([1, 3])
  await third.journal.close()
})

test('damage in the middle is an error with its place, not silence', async () => {
  const { journal } = await open()
  await journal.append({ n: 1 })
  await journal.close()
  writeFileSync(file, '[{"n":1}]\n[{"m":2}]\n[{"n":3}]\n')
  await expect(open()).rejects.toThrow('line 2 is not an entry')
})
