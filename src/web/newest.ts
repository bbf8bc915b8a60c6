/** Returns a cache of the values of the newest `most` keys. */
export function newest<T>(most: number): (key: string, make: () => T) => T {
  const kept = new Map<string, T>()
  return (key, make) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const [oldest] = kept.keys()
    if (oldest !== undefined && kept.size === most) kept.delete(oldest)
    const made = make()
    kept.set(key, made)
    return made
  }
}
