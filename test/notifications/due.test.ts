import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { leaveNotice } from '../../src/db/accounts/account-notices.ts'
import type { Tenant } from '../../src/db/db.ts'
import { type Channel, removeChannel } from '../../src/db/notifications/channels.ts'
import { insertTestMessage, takeDueChannels } from '../../src/db/notifications/messages.ts'
import type { ChannelKind } from '../../src/domain/notification/channel.ts'
import { newId } from '../../src/ids.ts'
import { createWorld, newTenant, type World } from './world.ts'

let world: World
let tenant: Tenant
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world?.close())
beforeEach(async () => {
  tenant = await newTenant(world)
  await world.db.query('update channel set removed_at = now()')
})

/** Fewer than what waits for the channels that cannot be told. */
const LIMIT = 3
const iso = (): string => new Date(world.clock.now).toISOString()
const due = () => takeDueChannels(world.db, { now: iso(), againSeconds: 10, limit: LIMIT })
const test = ({ id }: Channel, whose: Tenant): Promise<void> =>
  insertTestMessage(world.db, whose, { id: newId('channelMessage'), channelId: id, now: iso() })

async function another(kind: ChannelKind): Promise<{ channel: Channel; whose: Tenant }> {
  const whose = await newTenant(world)
  return { channel: await world.addChannel(whose, kind), whose }
}

describe('however much waits for channels that cannot be told, the channel of another merchant is told', () => {
  it('where a service is down: behind a message that is tried again later only what cannot wait is due', async () => {
    const down = await world.addChannel(tenant, 'slack')
    world.services.slack.mood = () => 503
    await world.pay(tenant)
    await world.run(down.id, 800)
    for (let n = 0; n <= LIMIT; n++) await world.pay(tenant)
    world.clock.now += 20_000
    const { channel, whose } = await another('discord')
    await world.pay(whose)
    expect(await due()).toEqual([channel.id])
    await world.db.transaction((tx) => leaveNotice(tx, tenant, { kind: 'wallet.kept', data: {} }))
    expect(await due()).toEqual([down.id])
  })

  it('where a service asked for a pause', async () => {
    const paused = await world.addChannel(tenant, 'discord')
    for (let n = 0; n <= LIMIT; n++) await world.pay(tenant)
    const until = new Date(world.clock.now + 86_400_000)
    await world.db.query('update channel set paused_until = $2 where id = $1', [paused.id, until])
    const { channel, whose } = await another('slack')
    await world.pay(whose)
    expect(await due()).toEqual([channel.id])
  })

  it('where channels were removed with a message that was begun', async () => {
    for (let n = 0; n <= LIMIT; n++) {
      const removed = await world.addChannel(tenant, 'slack')
      await test(removed, tenant)
      await world.db.transaction((tx) => removeChannel(tx, tenant, { id: removed.id, at: iso() }))
    }
    world.clock.now += 20_000
    const { channel, whose } = await another('slack')
    await test(channel, whose)
    expect(await due()).toEqual([channel.id])
  })
})

it('what failed before the quiet hours is tried again at their end; what cannot wait goes out meanwhile', async () => {
  const { discord } = world.services
  world.clock.now = Date.UTC(2031, 0, 5, 21, 59, 50)
  const quiet = { from: 22 * 60, to: 7 * 60, zone: 'UTC' }
  const channel = await world.addChannel(tenant, 'discord', { quiet })
  discord.taken.length = 0
  discord.mood = () => 503
  await world.pay(tenant)
  await world.run(channel.id, 5)
  discord.mood = () => 'as documented'
  world.clock.now = Date.UTC(2031, 0, 5, 23, 0)
  await world.run(channel.id, 60)
  expect(discord.taken).toEqual([])
  await world.db.transaction((tx) =>
    leaveNotice(tx, tenant, { kind: 'api_key.created', data: { key: 'k', name: 'k' } }),
  )
  await world.run(channel.id, 60)
  expect(discord.taken.map(({ text }) => text.includes('key'))).toEqual([true])
  expect(await due()).toEqual([])
  world.clock.now = Date.UTC(2031, 0, 6, 7, 0)
  expect(await due()).toEqual([channel.id])
  await world.run(channel.id, 10)
  expect(discord.taken.map(({ text }) => text.includes('Payment succeeded'))).toEqual([false, true])
})
