import { rmSync } from 'node:fs'
import { afterAll, expect, test } from '@jest/globals'
import { openDataFolder } from '../../../scripts/system/data-folder.ts'
import { findRunning } from '../../../scripts/system.ts'
import { temporaryFolder } from '../../e2e/harness/test-system.ts'

const path = temporaryFolder('pinrail-running-')
afterAll(() => rmSync(path, { recursive: true, force: true }))

test('the demo finds the system that owns the data folder, and starts its own once that has ended', async () => {
  expect(findRunning(path)).toBeNull()
  const folder = await openDataFolder(path)
  folder.remember({ secretKey: 'pinrail_test_key', ports: { api: 4777, inbox: 4778 } })
  const found = findRunning(path)
  expect(found?.info).toMatchObject({ secret_key: 'pinrail_test_key', inbox_url: 'http://127.0.0.1:4778' })
  expect(new URL(found?.info.api_url ?? '').port).toBe('4777')
  folder.release()
  expect(findRunning(path)).toBeNull()
})
