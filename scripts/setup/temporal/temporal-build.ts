import { statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Step } from '../progress.mjs'
import { firstLine, run, which } from '../run.ts'

/**
 * The version of the Temporal CLI in tools/temporal/go.mod and tools/temporal/requirements.txt; its server is 1.32.0.
 */
export const TEMPORAL_VERSION = '1.9.1'

const CLI = 'github.com/temporalio/cli/cmd/temporal'
const TOOLS = fileURLToPath(new URL('../../../tools', import.meta.url))
/** Packages that a build with empty caches compiles, counted with `go build -v`. */
const PACKAGES = 1796
/** 1.5 GB of modules and 2.2 GB of compiled packages were measured; the rest is room for the linker. */
const NEEDED_BYTES = 6 * 1024 ** 3

export type Build = { readonly module: string; readonly sources: readonly string[]; readonly folder: string }

/** Builds the Temporal CLI, which contains the server and its UI. Takes about 6 minutes on two idle cores. */
export const buildTemporal = (folder: string, step: Step): Promise<void> =>
  buildFromModule({ module: 'temporal', sources: [CLI], folder: join(folder, 'bin') }, step)

export async function buildFromModule({ module, sources, folder }: Build, step: Step): Promise<void> {
  const go = which('go')
  if (go === null)
    throw new Error(
      'Go is not installed. Install Go 1.26 (https://go.dev/dl), or the Temporal CLI, or set TEMPORAL_ADDRESS',
    )
  await requireDisk(go)
  let modules = 0
  let packages = 0
  const args = ['build', '-v', '-mod=readonly', '-trimpath', '-ldflags', ldflags(), '-o', `${folder}/`, ...sources]
  await run(go, args, {
    cwd: join(TOOLS, module),
    env: { ...process.env, CGO_ENABLED: '0' },
    onLine: (line) => {
      if (line.startsWith('go: downloading')) {
        modules += 1
        step.update(`build from tools/${module}, ${modules} modules downloaded`)
        return true
      }
      // `go build -v` prints each package alone in a line. Everything else is an error.
      const isPackage = !line.includes(' ')
      if (isPackage) packages += 1
      step.update(`build from tools/${module}`, packages / PACKAGES)
      return isPackage
    },
  })
}

const ldflags = (): string => `-s -w -X github.com/temporalio/cli/internal/temporalcli.Version=${TEMPORAL_VERSION}`

async function requireDisk(go: string): Promise<void> {
  const folders = (await run(go, ['env', 'GOCACHE', 'GOMODCACHE'])).split('\n')
  for (const folder of folders.filter((name) => name !== '')) {
    const free = await freeBytes(folder)
    if (free < NEEDED_BYTES)
      throw new Error(
        `building needs 6 GB of free disk at ${folder}, there are ${(free / 1024 ** 3).toFixed(1)} GB. Make room, install the Temporal CLI, or set TEMPORAL_ADDRESS`,
      )
  }
}

/** Returns the free bytes on the file system that has the folder, or would have it. */
async function freeBytes(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch (error) {
    if (dirname(folder) === folder) throw new Error(firstLine(error), { cause: error })
    return freeBytes(dirname(folder))
  }
}
