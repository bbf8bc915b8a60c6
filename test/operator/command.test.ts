import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { USDC_ADDRESS } from '../../scripts/system/environment.ts'
import { LIVE_ENVIRONMENT } from '../../scripts/test/live-environment.ts'
import { runCommand } from '../../src/operator/command.ts'
import { useFixture } from '../chain/fixture.ts'
import { plant } from '../support/plant.ts'
import { workerVariables } from './operations.ts'

const SIGNED = ['--operator', 'anna', '--reason', 'a drill']

describe('The command settlement', () => {
  const fixture = useFixture()

  /** As an operator types it, with the worker's variables. */
  async function settlement(...args: string[]): Promise<{ code: number; text: string }> {
    const lines: string[] = []
    const say = (line: string): void => void lines.push(line)
    const code = await runCommand({ args: ['settlement', ...args], env: workerVariables(fixture), say })
    return { code, text: lines.join('\n') }
  }

  describe('Wrong uses of the command', () => {
    test.each([
      [[]],
      [['pay_1']],
      [['toString', 'pay_1']],
      [['void']],
      [['void', 'pay_1', 'pay_2']],
      [['status', 'pay_1']],
      [['resume', 'pay_1', '--', '--dry-run']],
    ])('the command prints its usage, and does nothing, for %j', async (args) => {
      await expect(settlement(...args)).rejects.toThrow(/pinrail <command>|Did you mean:\n  pinrail settlement/)
    })

    test('the command refuses an unknown option, and does nothing', async () => {
      const [queued] = await fixture.queue([{}])
      await expect(settlement('stop', queued!.paymentId, ...SIGNED, '--dryrun')).rejects.toThrow(
        `Unknown option '--dryrun'`,
      )
      expect((await fixture.payout(queued!.paymentId)).state).toBe('queued')
    })
  })

  test('the command tries, stops and shows a payout; a stopped one is settled by a decision', async () => {
    const [queued] = await fixture.queue([{}])
    const id = queued!.paymentId
    await plant(fixture.db, `update payment set payout = 'handed' where id = $1`, [id])
    expect(await settlement('--dry-run', 'stop', id, ...SIGNED)).toMatchObject({
      code: 0,
      text: expect.stringContaining('would be'),
    })
    expect((await fixture.payout(id)).state).toBe('queued')
    const stopped = await settlement('stop', id, ...SIGNED)
    expect(stopped).toMatchObject({ code: 0, text: expect.stringContaining(`after   ${id}: stopped(operator)`) })
    expect((await settlement('status')).text).toMatch(/stopped\(operator\) +1 payout /)
    expect((await settlement('stop', id, ...SIGNED)).code).toBe(0)
    await expect(settlement('resume', id, ...SIGNED)).rejects.toThrow(`pinrail payments decide ${id} settle`)
    expect((await fixture.payout(id)).state).toBe('stopped')
  })

  test.each([
    ['acknowledge', `0x${'1'.repeat(64)}`],
    ['reopen', `0x${'1'.repeat(40)}`],
    ['abandon-lane', `0x${'1'.repeat(40)}`],
  ])('%s cannot be tried, and is not carried out instead', async (name, subject) => {
    await expect(settlement(name, subject, ...SIGNED, '--dry-run')).rejects.toThrow(`${name} has no option --dry-run`)
  })

  test.each(['void', 'stop', 'resume', 'acknowledge', 'reopen', 'abandon-lane', 'take-over'])(
    '%s needs the name of the operator and a reason',
    async (name) => {
      const needs = `pinrail settlement ${name} needs --operator and --reason`
      await expect(settlement(name, 'pay_1')).rejects.toThrow(needs)
      await expect(settlement(name, 'pay_1', '--operator', ' ', '--reason', 'x')).rejects.toThrow('name yourself')
    },
  )

  test('operators’ actions are listed with their names and reasons, and explained with the payment', async () => {
    const [queued] = await fixture.queue([{}])
    const id = queued!.paymentId
    const reason = ['--reason', 'the buyer has the money back']
    expect((await settlement('void', id, '--operator', 'anna', ...reason, '--dry-run')).code).toBe(0)
    expect((await settlement('acts')).text).not.toContain(id)
    expect((await settlement('void', id, '--operator', 'anna', ...reason)).code).toBe(0)
    expect((await settlement('reopen', `0x${'9'.repeat(40)}`, '--operator', 'boris', '--reason', 'x')).code).toBe(1)
    const wallet = `0x${'8'.repeat(40)}`
    await fixture.db.query(`insert into lane (chain_id, wallet, next_nonce, status, status_reason)
      values (31337, '${wallet}', 0, 'quarantined', 'a stranger')`)
    expect((await settlement('reopen', wallet, '--operator', 'boris', '--reason', 'it was us')).code).toBe(0)
    const acts = await settlement('acts')
    expect(acts.text).toMatch(/Z {2}settlement\.reopen +0x8{40} +boris +it was us\n/)
    expect(acts.text).toMatch(new RegExp(`Z {2}settlement\\.void +${id} +anna +the buyer has the money back$`, 'm'))
    expect(acts.text).not.toContain(`0x${'9'.repeat(40)}`)
    const lines: string[] = []
    const say = (line: string): void => void lines.push(line)
    await runCommand({ args: ['payments', 'explain', id], env: workerVariables(fixture), say })
    expect(lines).toContainEqual(expect.stringMatching(/Z {2}A void of the payout was requested \(operator\)$/))
    expect(lines).toContainEqual(expect.stringMatching(/Z {2}settlement\.void by anna: the buyer has the money back$/))
  })

  test('the command refuses a database of the other mode, and does nothing', async () => {
    const [queued] = await fixture.queue([{}])
    const id = queued!.paymentId
    await fixture.db.query('insert into deployment (livemode) values (false)')
    const live = { ...LIVE_ENVIRONMENT, CHAIN_ID: '137', USDC_ADDRESS, DATABASE_URL: fixture.databaseUrl }
    const say = (): void => undefined
    for (const args of [['status'], ['stop', id, ...SIGNED], ['void', id, ...SIGNED], ['rebuild', '--dry-run']])
      await expect(runCommand({ args: ['settlement', ...args], env: live, say })).rejects.toThrow(
        'This process is in live mode, but its database belongs to a test deployment.',
      )
    expect((await fixture.payout(id)).state).toBe('queued')
    expect((await settlement('status')).text).toMatch(/^No money is moving: no worker has read the chain yet\.\n/)
  })
})

describe('Documented commands', () => {
  const run = (...args: string[]): Promise<number> => runCommand({ args, env: {}, say: () => undefined })

  /** The commands that the table of docs/settlement.md lists, each with its subject. */
  function documented(): { name: string; subject: string[] }[] {
    const page = readFileSync(new URL('../../docs/settlement.md', import.meta.url), 'utf8')
    const [, rows = ''] = /\n\| command \| [^|]+\|\n\|[- ]+\|[- ]+\|\n((?:\|.*\n)+)/.exec(page) ?? []
    const cells = rows.split('\n').map((row) => row.split('|')[1] ?? '')
    return cells.flatMap((cell) =>
      [...cell.matchAll(/`([a-z-]+)(?: (<[^`]+>))?`/g)].map(([, name = '', subject]) => ({
        name,
        subject: subject?.match(/<[^>]+>/g) ?? [],
      })),
    )
  }

  /** The commands that the usage text lists. */
  async function used(): Promise<string[]> {
    const usage = await run().then(String, (error: Error) => error.message)
    return [...usage.matchAll(/^ {2}settlement ([a-z-]+) /gm)].map(([, name = '']) => name)
  }

  describe('The commands that docs/settlement.md lists', () => {
    test('the documented commands are those of the usage text', async () => {
      const names = documented().map(({ name }) => name)
      expect(names.length).toBeGreaterThan(0)
      expect(names.sort()).toEqual((await used()).sort())
    })

    test.each(documented())('$name is known: it asks for the variables, not for another command', async (command) => {
      const { name, subject } = command
      const asked = await run('settlement', name, ...subject).catch(String)
      const signed = String(asked).includes('needs --operator and --reason') ? SIGNED : []
      await expect(run('settlement', name, ...subject, ...signed)).rejects.toThrow('DATABASE_URL: must be set')
    })
  })
})
