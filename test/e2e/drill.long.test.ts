import { expect, test } from '@jest/globals'
import { playDrill } from './harness/drill.ts'

test('after each loss of docs/backup.md, and with every secret changed, nothing was paid twice', async () => {
  const said: string[] = []
  expect(await playDrill({ payments: 1, say: (line) => void said.push(line) })).toEqual([])
  expect(said.filter((line) => /^(Temporal|Database|Pepper)/.test(line))).toHaveLength(4)
}, 600_000)
