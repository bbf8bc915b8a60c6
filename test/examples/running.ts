import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { CallLanguage } from '../../src/web/docs/code/languages.ts'

/** Runs the examples of the documentation, each with the program of its language and nothing else. */

const TSX = import.meta.resolve('tsx')
const RECEIVERS = fileURLToPath(new URL('./receivers/', import.meta.url))
const SAMPLES = fileURLToPath(new URL('../../src/web/docs/code/verify/', import.meta.url))
/** Uses the installed Go, and prevents downloads. */
const GO = { GOTOOLCHAIN: 'local', GO111MODULE: 'off', GOFLAGS: '' }
/** The first Go program has the standard library compiled with it: over a minute on a busy machine. */
const TIMEOUT_MS = 150_000

type Command = { readonly folder: string; readonly env?: NodeJS.ProcessEnv; readonly input?: string }

/** Returns the output of the program. Throws if it fails or writes to its second output. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { folder, env = {}, input = '' }: Command,
): Promise<string> {
  const running = promisify(execFile)(program, args, {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '', ...GO, ...env },
    timeout: TIMEOUT_MS,
    maxBuffer: 4_000_000,
  })
  running.child.stdin?.end(input)
  const { stdout, stderr } = await running
  if (stderr !== '') throw new Error(`${program} ${args.join(' ')} wrote: ${stderr}`)
  return stdout
}

const FILES: Readonly<Record<CallLanguage, string>> = {
  curl: 'sh',
  typescript: 'mts',
  python: 'py',
  go: 'go',
  php: 'php',
}

type Samples = { readonly language: CallLanguage; readonly texts: readonly string[]; readonly env: NodeJS.ProcessEnv }

/** A separator between the outputs of two examples. */
const MARK = '\n-- next --\n'

/** Returns the outputs of the examples in order. If a start takes long, one process runs all of the files. */
export async function runSamples(folder: string, { language, texts, env }: Samples): Promise<string[]> {
  mkdirSync(folder, { recursive: true })
  const files = texts.map((text, index) => {
    const file = `example${index}.${FILES[language]}`
    writeFileSync(join(folder, file), `${text}\n`)
    return file
  })
  const run = (program: string, ...args: string[]) => runProgram(program, args, { folder, env })
  const together = async (all: string, text: string, ...command: [string, ...string[]]): Promise<string[]> => {
    writeFileSync(join(folder, all), text)
    return (await run(...command, all)).split(MARK).slice(0, -1)
  }
  const mark = JSON.stringify(MARK.slice(0, -1))
  const [list, each] = [JSON.stringify(files), async (one: (file: string) => Promise<string>) => inTurn(files, one)]
  switch (language) {
    case 'curl':
      return each((file) => run('sh', file))
    case 'php':
      return each((file) => run('php', file))
    case 'typescript':
      return together(
        'all.mts',
        `for (const file of ${list}) {\n  await import('./' + file)\n  console.log(${mark})\n}\n`,
        process.execPath,
        '--import',
        TSX,
      )
    case 'python':
      return together(
        'all.py',
        `import runpy\nfor file in ${list}:\n    runpy.run_path(file)\n    print(${mark})\n`,
        'python3',
      )
    case 'go':
      return each(async (file) => {
        await run('go', 'build', '-ldflags=-s -w', '-o', 'example', file)
        return run('./example')
      })
  }
}

async function inTurn(files: readonly string[], one: (file: string) => Promise<string>): Promise<string[]> {
  const printed: string[] = []
  for (const file of files) printed.push(await one(file))
  return printed
}

/** The outputs of each language's webhook check. */
export const RECEIVER_RUNS: Readonly<Record<string, (folder: string, input: string) => Promise<string>>> = {
  typescript: (folder, input) =>
    runProgram(process.execPath, ['--import', TSX, join(RECEIVERS, 'main.ts')], { folder, input }),
  python: (folder, input) => copied(folder, 'py', () => runProgram('python3', ['main.py'], { folder, input })),
  go: (folder, input) =>
    copied(folder, 'go', () => runProgram('go', ['run', 'verify.go', 'main.go'], { folder, input })),
  php: (folder, input) => copied(folder, 'php', () => runProgram('php', ['main.php'], { folder, input })),
  java: async (folder, input) => {
    copyFileSync(join(SAMPLES, 'Verify.java'), join(folder, 'Verify.java'))
    copyFileSync(join(RECEIVERS, 'Main.java'), join(folder, 'Main.java'))
    await runProgram('javac', ['Verify.java', 'Main.java'], { folder })
    return runProgram('java', ['Main'], { folder, input })
  },
}

function copied<T>(folder: string, extension: string, then: () => T): T {
  copyFileSync(join(SAMPLES, `verify.${extension}`), join(folder, `verify.${extension}`))
  copyFileSync(join(RECEIVERS, `main.${extension}`), join(folder, `main.${extension}`))
  return then()
}
