import type { Import } from './graph.ts'

/** A folder of the project, and the rooms that its files can import in addition to their own. */
export type Room = {
  readonly name: string
  /** Its folders and files, from the checkout's root. */
  readonly at: readonly string[]
  readonly may: readonly string[]
  /** Rooms from which it can import types only, which are erased when the code runs. */
  readonly mayType?: readonly string[]
}

/**
 * The rooms from the ground up: each can import only rooms above it in this list, so no arrow runs up and no two rooms
 * import each other. `npm run check:imports` compares every file with it, and docs/architecture.md is drawn from it.
 */
export const ROOMS: readonly Room[] = [
  { name: 'domain', at: ['src/domain'], may: [] },
  { name: 'evm', at: ['src/evm'], may: ['domain'] },
  { name: 'runtime', at: ['src/runtime'], may: ['domain'] },
  { name: 'ids', at: ['src/ids.ts'], may: ['domain'] },
  { name: 'config', at: ['src/config'], may: ['domain', 'evm'] },
  { name: 'client', at: ['src/client'], may: [] },
  { name: 'client-command', at: ['src/client/cli'], may: ['client'] },
  { name: 'verifier', at: ['src/verifier'], may: [] },
  { name: 'web', at: ['src/web'], may: ['domain', 'evm', 'verifier'] },
  { name: 'receipt-pdf', at: ['src/web/receipt-pdf'], may: ['web'] },
  { name: 'db', at: ['src/db'], may: ['domain', 'evm', 'ids'] },
  { name: 'payments', at: ['src/payments'], may: ['domain', 'ids', 'db'] },
  { name: 'chain', at: ['src/chain'], may: ['domain', 'evm', 'runtime'], mayType: ['db'] },
  { name: 'notify', at: ['src/notify'], may: ['domain'] },
  { name: 'signature', at: ['src/partners/signature.ts'], may: ['runtime'] },
  { name: 'partners', at: ['src/partners'], may: ['domain', 'runtime', 'signature'] },
  { name: 'outbound', at: ['src/outbound'], may: ['domain'] },
  { name: 'webhooks', at: ['src/webhooks'], may: ['domain', 'runtime', 'outbound'] },
  { name: 'sandbox', at: ['src/sandbox'], may: ['domain', 'runtime', 'signature'] },
  {
    name: 'activities',
    at: ['src/activities'],
    may: ['domain', 'db', 'payments', 'webhooks', 'runtime'],
    mayType: ['partners'],
  },
  { name: 'workflows', at: ['src/workflows'], may: ['domain'], mayType: ['activities'] },
  { name: 'temporal', at: ['src/temporal'], may: ['domain', 'workflows', 'runtime'], mayType: ['config'] },
  { name: 'settlement', at: ['src/settlement'], may: ['domain', 'db', 'payments', 'chain', 'runtime'] },
  { name: 'api-key', at: ['src/api/auth/api-key.ts'], may: ['runtime'] },
  {
    name: 'api',
    at: ['src/api'],
    may: ['domain', 'evm', 'runtime', 'ids', 'db', 'payments', 'web', 'receipt-pdf', 'webhooks', 'api-key'],
    mayType: ['temporal'],
  },
  { name: 'worker', at: ['src/worker'], may: ['domain', 'db', 'runtime', 'workflows'], mayType: ['temporal'] },
  {
    name: 'deps',
    at: ['src/deps'],
    may: 'domain runtime ids config db payments chain notify partners webhooks sandbox activities workflows temporal settlement api worker'.split(
      ' ',
    ),
  },
  {
    name: 'operator',
    at: ['src/operator'],
    may: 'domain evm runtime ids config verifier db payments chain webhooks workflows temporal settlement api-key'.split(
      ' ',
    ),
  },
  { name: 'main', at: ['src/main'], may: ['runtime', 'config', 'sandbox', 'api', 'worker', 'deps'] },
]

/** The rooms outside of `src`: they can import any room of it, and each other only as listed here. */
export const SURROUNDINGS: readonly Room[] = [
  { name: 'scripts', at: ['scripts'], may: [] },
  { name: 'test', at: ['test'], may: ['scripts'] },
  { name: 'lab', at: ['lab'], may: ['scripts', 'test'] },
]

/** Returns the room of a file; the more exact place counts. Null if the file is outside of all rooms. */
export function findRoom(file: string): Room | null {
  const places = [...ROOMS, ...SURROUNDINGS].flatMap((room) => room.at.map((at) => ({ room, at })))
  const found = places.filter(({ at }) => file === at || file.startsWith(`${at}/`))
  return found.toSorted((a, b) => b.at.length - a.at.length)[0]?.room ?? null
}

/** Returns a line for each import that the tables above do not allow. */
export function brokenRules(imports: readonly Import[]): string[] {
  return imports.flatMap(({ from, to, typeOnly }) => {
    const [room, target] = [findRoom(from), findRoom(to)]
    if (room === null || target === null)
      return [`${room === null ? from : to} is in no room: see scripts/imports/rooms.ts`]
    if (room === target || room.may.includes(target.name)) return []
    if (typeOnly && room.mayType?.includes(target.name)) return []
    if (SURROUNDINGS.includes(room) && ROOMS.includes(target)) return []
    const what = room.mayType?.includes(target.name)
      ? `knows ${target.name} by type only`
      : `must not import ${target.name}`
    return [`${from}: ${room.name} ${what} (${to})`]
  })
}

/** Returns a line for each entry that breaks the order: with it the list would allow what it must forbid. */
export function misplacedRooms(rooms: readonly Room[]): string[] {
  return rooms.flatMap(({ name, may, mayType = [] }, index) => {
    const below = new Set(rooms.slice(0, index).map((room) => room.name))
    return [...may, ...mayType].filter((other) => !below.has(other)).map((other) => `${name} → ${other} runs up`)
  })
}
