type Fields = Readonly<Record<string, unknown>>

/** True if two values of plain data are equal. The order of keys does not matter: rows of the database have another. */
export function isSame<T>(left: T, right: T): boolean {
  if (left === right) return true
  if (!isObject(left) || !isObject(right)) return false
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSame(left[name], right[name]))
  )
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null
