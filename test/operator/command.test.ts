import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { USDC_ADDRESS } from '../../scripts/system/environment.ts'
import { LIVE_ENVIRONMENT } from '../../scripts/test/live-environment.ts'
import { runCommand } from '../../src/operator/command.ts'
import { useWorld } from '../chain/world.ts'
import { workerVariables } from './operations.ts'

describe('the command settlement', () => {
  const world = useWorld()

  /** As an operator types it, with the worker's variables. */
  async function settlement(...args: string[]): Promise<{ code: number; text: string }> {
    const lines: string[] = []
    const say = (line: string): void => void lines.push(line)
    const code = await runCommand({ args: ['settlement', ...args], env: workerVariables(world), say })
    return { code, text: lines.join('\n') }
  }

  describe('says how it is used, and does nothing, for', () => {
    test.each([
      [[]],
      [['pay_1']],
      [['toString', 'pay_1']],
      [['void']],
      [['void', 'pay_1', 'pay_2']],
      [['status', 'pay_1']],
      [['release', 'pay_1', '--', '--dry-run']],
    ])('%j', async (args) => {
      await expect(settlement(...args)).rejects.toThrow(/pinrail <command>|Did you mean:\n  pinrail settlement/)
    })

    test('an option that it does not know', async () => {
      const [queued] = await world.queue([{}])
      await expect(settlement('hold', queued!.paymentId, '--dryrun')).rejects.toThrow(`Unknown option '--dryrun'`)
      expect((await world.payout(queued!.paymentId)).state).toBe('queued')
    })
  })

  test('tries, holds, releases and shows', async () => {
    const [queued] = await world.queue([{}])
    const id = queued!.paymentId
    expect(await settlement('--dry-run', 'hold', id)).toMatchObject({
      code: 0,
      text: expect.stringContaining('would be'),
    })
    expect((await world.payout(id)).state).toBe('queued')
    const held = await settlement('hold', id)
    expect(held).toMatchObject({ code: 0, text: expect.stringContaining(`after   ${id}: stopped(operator)`) })
    expect((await settlement('status')).text).toMatch(/stopped\(operator\) +1 payout /)
    expect((await settlement('hold', id)).code).toBe(0)
    expect((await settlement('release', id)).code).toBe(0)
    expect(await settlement('release', id)).toMatchObject({ code: 1, text: expect.stringContaining('nothing changed') })
    expect((await world.payout(id)).state).toBe('queued')
  })

  test('what cannot be tried is not done instead', async () => {
    await expect(settlement('acknowledge', `0x${'1'.repeat(64)}`, '--dry-run')).rejects.toThrow('has no dry run')
    await expect(settlement('reopen', world.relayers[0]!.address, '--dry-run')).rejects.toThrow('has no dry run')
  })

  test('refuses a database of the other mode, and does nothing', async () => {
    const [queued] = await world.queue([{}])
    const id = queued!.paymentId
    await world.db.query('insert into deployment (livemode) values (false)')
    const live = { ...LIVE_ENVIRONMENT, CHAIN_ID: '137', USDC_ADDRESS, DATABASE_URL: world.databaseUrl }
    const say = (): void => undefined
    for (const args of [['status'], ['hold', id], ['void', id], ['rebuild', '--dry-run']])
      await expect(runCommand({ args: ['settlement', ...args], env: live, say })).rejects.toThrow(
        'This process is in live mode, but its database belongs to a test deployment.',
      )
    expect((await world.payout(id)).state).toBe('queued')
    expect((await settlement('status')).text).toMatch(/^No money is moving: no worker has read the chain yet\.\n/)
  })
})

describe('documented commands', () => {
  const run = (...args: string[]): Promise<number> => runCommand({ args, env: {}, say: () => undefined })

  /** The commands that the table of docs/settlement.md lists, each with what it is about. */
  function documented(): { name: string; subject: string[] }[] {
    const page = readFileSync(new URL('../../docs/settlement.md', import.meta.url), 'utf8')
    const [, rows = ''] = /\n\| command \| [^|]+\|\n\|[- ]+\|[- ]+\|\n((?:\|.*\n)+)/.exec(page) ?? []
    const cells = rows.split('\n').map((row) => row.split('|')[1] ?? '')
    return cells.flatMap((cell) =>
      [...cell.matchAll(/`([a-z]+)(?: (<[^`]+>))?`/g)].map(([, name = '', subject]) => ({
        name,
        subject: subject === undefined ? [] : [subject],
      })),
    )
  }

  /** The commands that the usage text lists. */
  async function used(): Promise<string[]> {
    const usage = await run().then(String, (error: Error) => error.message)
    return [...usage.matchAll(/^ {2}settlement ([a-z]+) /gm)].map(([, name = '']) => name)
  }

  describe('the commands that docs/settlement.md lists', () => {
    test('are those of the usage text', async () => {
      const names = documented().map(({ name }) => name)
      expect(names.length).toBeGreaterThan(0)
      expect(names.sort()).toEqual((await used()).sort())
    })

    test.each(documented())('$name is known: it asks for the variables, not for another command', async (command) => {
      const { name, subject } = command
      await expect(run('settlement', name, ...subject)).rejects.toThrow('DATABASE_URL: must be set')
    })
  })
})
