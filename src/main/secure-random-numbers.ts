/**
 * Creates a generator of unpredictable numbers, 0 ≤ n < 1, for ids. An id takes 16 numbers. The
 * generator requests 1024 random bytes from the operating system at a time, because one request for
 * each number would be slow.
 */
export function createSecureRandom(): () => number {
  const bytes = new Uint8Array(1024)
  let index = bytes.length
  return () => {
    if (index === bytes.length) {
      crypto.getRandomValues(bytes)
      index = 0
    }
    const byte = bytes[index] as number
    index += 1
    return byte / 256
  }
}
