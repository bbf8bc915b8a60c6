import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { runPinrail } from '../../src/operator/command.ts'

describe('The output of the command', () => {
  test('output is dropped silently when its reader has ended, as `head` has', async () => {
    const program = fileURLToPath(new URL('../../src/operator/pinrail.ts', import.meta.url))
    const child = spawn(process.execPath, ['--import', 'tsx', program, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    let err = ''
    child.stderr.on('data', (part) => (err += String(part)))
    const [code] = await once(child, 'close')
    expect([code, err]).toEqual([0, ''])
  })

  test.each(['npm run pinrail --', 'npx pinrail'])('output names each command as it was started: %s', async (name) => {
    let text = ''
    const add = (more: string): void => void (text += more)
    await runPinrail({ args: ['payments', 'fnd'], env: {}, name }, { out: add, err: add })
    expect(text).toBe(
      `pinrail has no command "payments fnd".\nDid you mean:\n  ${name} payments find\nSee all commands: ${name} --help\n`,
    )
    const help = await runPinrail({ args: ['--help'], env: {}, name }, { out: add, err: add })
    expect([help, text]).toEqual([0, expect.stringContaining(`${name} <command>`)])
  })
})
