/**
 * What was seen lately, by name, as far as it is no more than so many characters. The least lately used
 * goes first.
 */
export interface LruCache<Value> {
  readonly get: (name: string) => Value | undefined
  /** Whether it is there then. */
  readonly put: (name: string, value: Value) => boolean
  /** It is gone then. */
  readonly take: (name: string) => Value | undefined
}

export function createLruCache<Value>(
  maxChars: number,
  sizeOf: (value: Value) => number,
  onDisconnect: (name: string, value: Value) => void = () => undefined,
): LruCache<Value> {
  const entries = new Map<string, Value>()
  let chars = 0
  const take = (name: string): Value | undefined => {
    const value = entries.get(name)
    if (value === undefined) return undefined
    entries.delete(name)
    chars -= sizeOf(value)
    onDisconnect(name, value)
    return value
  }
  return {
    take,
    get(name) {
      const value = entries.get(name)
      if (value === undefined) return undefined
      entries.delete(name)
      entries.set(name, value)
      return value
    },
    put(name, value) {
      take(name)
      const size = sizeOf(value)
      // One that would have nearly all others go.
      if (size > maxChars / 4) return false
      entries.set(name, value)
      chars += size
      for (const oldest of entries.keys()) {
        if (chars <= maxChars) break
        take(oldest)
      }
      return true
    },
  }
}
