/**
 * Limits the bytes of loaded media that this process holds in memory. Media that exceeds the limit
 * is left out; the request does not wait for memory. Each finished request releases its bytes.
 */
export interface LoadedBytesLimit {
  readonly createLease: () => LoadedBytesLease
  readonly countHeldBytes: () => number
}

export interface LoadedBytesLease {
  /**
   * Reserves memory for this many bytes. Returns false, and reserves nothing, if they exceed the
   * limit.
   */
  readonly reserve: (bytes: number) => boolean
  /** Releases this many bytes, or all bytes of the lease by default. */
  readonly release: (bytes?: number) => void
}

export function createLoadedBytesLimit(maxBytes: number): LoadedBytesLimit {
  let heldBytes = 0
  return {
    countHeldBytes: () => heldBytes,
    createLease() {
      let leasedBytes = 0
      return {
        reserve(bytes) {
          if (heldBytes + bytes > maxBytes) return false
          heldBytes += bytes
          leasedBytes += bytes
          return true
        },
        release(bytes = leasedBytes) {
          const releasedBytes = Math.min(bytes, leasedBytes)
          heldBytes -= releasedBytes
          leasedBytes -= releasedBytes
        },
      }
    },
  }
}
