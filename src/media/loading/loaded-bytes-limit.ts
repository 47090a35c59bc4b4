/**
 * How many bytes of loaded media this process holds at once. Who finds it full goes without and is
 * not kept waiting; with each request that is over there is room again.
 */
export interface LoadedBytesLimit {
  readonly lease: () => LoadedBytesLease
  readonly bytesHeld: () => number
}

export interface LoadedBytesLease {
  /** Whether there is room for so many bytes more. */
  readonly take: (bytes: number) => boolean
  /** Gives back so many bytes; all of them, if it is not said. */
  readonly letGo: (bytes?: number) => void
}

export function createLoadedBytesLimit(maxBytes: number): LoadedBytesLimit {
  let held = 0
  return {
    bytesHeld: () => held,
    lease() {
      let own = 0
      return {
        take(bytes) {
          if (held + bytes > maxBytes) return false
          held += bytes
          own += bytes
          return true
        },
        letGo(bytes = own) {
          const back = Math.min(bytes, own)
          held -= back
          own -= back
        },
      }
    },
  }
}
