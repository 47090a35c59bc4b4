/**
 * Cache with a maximum total size in characters. When it is full, the least recently used entries
 * are dropped.
 */
export interface LruCache<Value> {
  readonly get: (key: string) => Value | undefined
  /** Stores a value. Returns false, and stores nothing, if the value is too large. */
  readonly put: (key: string, value: Value) => boolean
  /** Returns the value and removes it from the cache. */
  readonly take: (key: string) => Value | undefined
}

export function createLruCache<Value>(
  maxChars: number,
  countChars: (value: Value) => number,
  onRemove: (key: string, value: Value) => void = () => undefined,
): LruCache<Value> {
  const entries = new Map<string, Value>()
  let chars = 0
  const take = (key: string): Value | undefined => {
    const value = entries.get(key)
    if (value === undefined) return undefined
    entries.delete(key)
    chars -= countChars(value)
    onRemove(key, value)
    return value
  }
  return {
    take,
    get(key) {
      const value = entries.get(key)
      if (value === undefined) return undefined
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    put(key, value) {
      take(key)
      const size = countChars(value)
      // A value larger than a quarter of the cache would displace nearly everything else.
      if (size > maxChars / 4) return false
      entries.set(key, value)
      chars += size
      for (const oldest of entries.keys()) {
        if (chars <= maxChars) break
        take(oldest)
      }
      return true
    },
  }
}
