import type { ComponentChildren } from 'preact'

/** The place of a cell, `a b / c d`, when a narrow sheet shows a row in two lines. Cells without a place are hidden. */
type Place = 'a' | 'b' | 'c' | 'd'

export type Column<T> = {
  readonly name: ComponentChildren
  readonly place?: Place
  /** Additional classes: `num`, `fit`, `clip`. */
  readonly look?: string
  readonly sort?: 'ascending' | 'descending'
  readonly cell: (row: T) => ComponentChildren
}

type TableProps<T> = {
  readonly caption: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly rowLook?: (row: T) => string
}

/** A table with explicit roles, so that screen readers read a table also if a narrow sheet shows its rows as boxes. */
export function Table<T>({ caption, columns, rows, rowLook = () => '' }: TableProps<T>) {
  const toLook = ({ place, look }: Column<T>): string => [look, place].filter(Boolean).join(' ')
  const many = columns.some(({ place }) => place !== undefined)
  return (
    // biome-ignore lint/a11y/noRedundantRoles: display: grid takes the role away
    <table class={many ? 'table cards' : 'table'} role="table">
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={toLook(column)} role="columnheader" scope="col" class={toLook(column)} aria-sort={column.sort}>
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={row} role="row" class={rowLook(row)}>
            {columns.map((column) => (
              <td key={column} role="cell" class={toLook(column)}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** A link that covers the whole row. */
export function RowLink({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a class="row-link" href={href}>
      <b>{children}</b>
    </a>
  )
}
