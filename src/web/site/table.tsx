import type { ComponentChildren } from 'preact'

/** `a b / c d`: where a cell stands when a narrow sheet shows a row in two lines. Cells without a place are left out. */
type Place = 'a' | 'b' | 'c' | 'd'

export type Column<T> = {
  readonly name: ComponentChildren
  readonly place?: Place
  /** Further classes: `num`, `fit`, `clip`. */
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

/** A table that stays one for readers of the page when a narrow sheet shows its rows as boxes: roles are explicit. */
export function Table<T>({ caption, columns, rows, rowLook = () => '' }: TableProps<T>) {
  const lookOf = ({ place, look }: Column<T>): string => [look, place].filter(Boolean).join(' ')
  const many = columns.some(({ place }) => place !== undefined)
  return (
    // biome-ignore lint/a11y/noRedundantRoles: display: grid takes the role away
    <table class={many ? 'table cards' : 'table'} role="table">
      <caption class="hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={lookOf(column)} role="columnheader" scope="col" class={lookOf(column)} aria-sort={column.sort}>
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={row} role="row" class={rowLook(row)}>
            {columns.map((column) => (
              <td key={column} role="cell" class={lookOf(column)}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** What the whole row leads to. */
export function RowLink({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a class="row-link" href={href}>
      <b>{children}</b>
    </a>
  )
}
