/**
 * Cache with a maximum size in bytes, estimated for keys and values together. When it is full, it drops the least
 * recently used entries.
 */
import { estimateHeapBytes } from './estimate-heap-bytes.ts'

export interface LruCache<Value> {
  readonly get: (key: string) => Value | undefined
  /** Stores a value. Returns false, and stores nothing, if the value is too large. */
  readonly put: (key: string, value: Value) => boolean
  /** Returns the value and removes it from the cache. */
  readonly take: (key: string) => Value | undefined
}

interface Entry<Value> {
  readonly value: Value
  readonly bytes: number
}

export function createLruCache<Value>(
  maxBytes: number,
  onRemove: (key: string, value: Value) => void = () => undefined,
): LruCache<Value> {
  const entries = new Map<string, Entry<Value>>()
  let bytes = 0
  const take = (key: string): Value | undefined => {
    const entry = entries.get(key)
    if (entry === undefined) return undefined
    entries.delete(key)
    bytes -= entry.bytes
    onRemove(key, entry.value)
    return entry.value
  }
  return {
    take,
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    put(key, value) {
      take(key)
      const entry = {
        value,
        bytes: ENTRY_BYTES + estimateHeapBytes(key) + estimateHeapBytes(value),
      }
      // A value larger than a quarter of the cache would displace nearly everything else.
      if (entry.bytes > maxBytes / 4) return false
      entries.set(key, entry)
      bytes += entry.bytes
      for (const oldest of entries.keys()) {
        if (bytes <= maxBytes) break
        take(oldest)
      }
      return true
    },
  }
}

/**
 * Bytes of an entry in addition to its key and value: its object, and its place in the map, which
 * is half empty at times.
 */
const ENTRY_BYTES = 130
