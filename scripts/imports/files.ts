import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Lists every source file of the checkout that git knows or does not ignore. */
export function sourceFiles(root: string): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--', 'src', 'scripts', 'test', 'lab']
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n')
  const code = listed.filter((file) => /\.([cm]?ts|tsx|[cm]?js|jsx)$/.test(file))
  return code.filter((file) => existsSync(join(root, file)))
}
