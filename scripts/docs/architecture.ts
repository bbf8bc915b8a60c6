import { fileURLToPath } from 'node:url'
import { sourceFiles } from '../imports/files.ts'
import { type Import, readImports } from '../imports/graph.ts'
import { findRoom, ROOMS, type Room } from '../imports/rooms.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** docs/architecture.md: the rooms of src, with the imports that the files really have. */
export function architecturePage(): string {
  const files = sourceFiles(ROOT).filter((file) => file.startsWith('src/'))
  const arrows = collectArrows(readImports(ROOT, files))
  const up = arrows.filter(({ from, to }) => ROOMS.indexOf(to) >= ROOMS.indexOf(from))
  return `# The rooms and their imports

Written by \`npm run docs\` from the files of \`src\` and from the table in \`scripts/imports/rooms.ts\`. \`npm run check:imports\`
refuses an import that the table does not allow, and a file outside of all rooms. The linter (\`import/no-cycle\`, types
included) refuses files that import each other.

Each file of \`main\` with a configuration is a process: the api answers merchants, buyers and partners; the worker runs
workflows, activities, the relay and the settlement engine; the codec server decrypts payloads for operators. \`deps\`
gives each process its parts. The sandbox and the inbox are never part of a live system. The README
[follows one payment, one payout and one webhook](../README.md#follow-one-payment) through the rooms.

An arrow means "imports"; a dotted arrow imports types only, which are gone when the code runs. ${ROOMS.length} rooms,
${arrows.length} arrows, ${up.length} of them run up.

\`\`\`mermaid
flowchart TD
${arrows.map(({ from, to, typeOnly }) => `  ${from.name} ${typeOnly ? '-.->' : '-->'} ${to.name}`).join('\n')}
\`\`\`

From the ground up; a room may import only rooms above it in this table.

| room | where | imports |
| --- | --- | --- |
${ROOMS.map((room) => row(room, arrows)).join('\n')}

Outside of \`src\`, \`scripts\` imports \`src\`, \`test\` imports \`src\` and \`scripts\`, and \`lab\` imports all of them. No room
imports \`lab\`.
`
}

type Arrow = { readonly from: Room; readonly to: Room; readonly typeOnly: boolean }

function collectArrows(imports: readonly Import[]): Arrow[] {
  const arrows = new Map<string, Arrow>()
  for (const { from, to, typeOnly } of imports) {
    const [room, target] = [findRoom(from), findRoom(to)]
    if (room === null || target === null || room === target) continue
    const key = `${ROOMS.indexOf(room)} ${ROOMS.indexOf(target)}`
    arrows.set(key, { from: room, to: target, typeOnly: typeOnly && (arrows.get(key)?.typeOnly ?? true) })
  }
  const place = ({ from, to }: Arrow): number => ROOMS.indexOf(from) * ROOMS.length + ROOMS.indexOf(to)
  return [...arrows.values()].toSorted((a, b) => place(b) - place(a))
}

function row(room: Room, arrows: readonly Arrow[]): string {
  const targets = arrows.filter(({ from }) => from === room).toReversed()
  const names = targets.map(({ to, typeOnly }) => (typeOnly ? `${to.name} (types)` : to.name))
  return `| ${room.name} | ${room.at.map((at) => `\`${at}\``).join(', ')} | ${names.join(', ') || '–'} |`
}
