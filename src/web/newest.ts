/** Creates a cache that keeps the values of the `most` newest keys. */
export function newest<T>(most: number): (key: string, make: () => T) => T {
  const cached = new Map<string, T>()
  return (key, make) => {
    const known = cached.get(key)
    if (known !== undefined) return known
    const [oldest] = cached.keys()
    if (oldest !== undefined && cached.size === most) cached.delete(oldest)
    const made = make()
    cached.set(key, made)
    return made
  }
}
