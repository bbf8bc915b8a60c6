import { createHash, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The place in the events up to which the target has accepted them, and the secret that signs them: kept in a file. */
export type Cursor = {
  readonly sequence: () => number
  readonly secret: string
  /** Is on disk when it returns. */
  readonly move: (sequence: number) => void
}

export type CursorOwner = { readonly baseUrl: string; readonly apiKey: string; readonly target: string }

type Stored = { readonly sequence: number; readonly secret: string }

type Settings = { readonly XDG_STATE_HOME?: string | undefined; readonly PINRAIL_WEBHOOK_SECRET?: string | undefined }

/** `readLast` returns where a first run begins. */
export async function openCursor(
  { XDG_STATE_HOME: stateFolder, PINRAIL_WEBHOOK_SECRET: given }: Settings,
  owner: CursorOwner,
  readLast: () => Promise<number>,
): Promise<Cursor> {
  const folder = join(stateFolder ?? join(homedir(), '.local/state'), 'pinrail')
  const name = createHash('sha256')
    .update(JSON.stringify([owner.baseUrl, owner.apiKey, owner.target]))
    .digest('hex')
  const file = join(folder, `listen-${name.slice(0, 16)}.json`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const known = readStored(file)
  const secret = given ?? known?.secret ?? `whsec_${randomBytes(32).toString('base64')}`
  let sequence = known?.sequence ?? (await readLast())
  const move = (next: number): void => {
    sequence = next
    store(file, { sequence, secret })
  }
  move(sequence)
  return { sequence: () => sequence, secret, move }
}

function readStored(file: string): Stored | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Stored
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw new Error(`${file} cannot be read. Delete it to begin with the next event.`, { cause: error })
  }
}

/** Replaces the file at once, so that a process that is killed leaves the old one or the new one. */
function store(file: string, stored: Stored): void {
  const fresh = `${file}.${process.pid}`
  const handle = openSync(fresh, 'w', 0o600)
  writeSync(handle, JSON.stringify(stored))
  fsyncSync(handle)
  closeSync(handle)
  renameSync(fresh, file)
}
