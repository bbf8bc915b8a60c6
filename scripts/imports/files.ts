import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Every source file of the checkout that git knows or does not ignore. */
export function sourceFiles(root: string): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--', 'src', 'scripts', 'test', 'lab']
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n')
  const code = listed.filter((file) => /\.([cm]?ts|tsx|[cm]?js|jsx)$/.test(file))
  return code.filter((file) => existsSync(join(root, file)))
}

/** Most source files of a folder, so that a person can take them in at a glance. */
const FILES_IN_A_FOLDER = 12

/** Folders with too many source files of their own. */
export function crowdedFolders(files: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  return [...counts]
    .filter(([, count]) => count > FILES_IN_A_FOLDER)
    .map(([folder, count]) => `${folder} has ${count} files, ${FILES_IN_A_FOLDER} are allowed: give it subfolders`)
}
