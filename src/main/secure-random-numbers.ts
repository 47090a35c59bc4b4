/**
 * Numbers from 0 up to 1 that nobody can guess, as ids are made of. The system is asked for many of
 * them at once: an id takes sixteen, and to ask for each alone costs more than all else of it.
 */
export function createSecureRandom(): () => number {
  const bytes = new Uint8Array(1024)
  let at = bytes.length
  return () => {
    if (at === bytes.length) {
      crypto.getRandomValues(bytes)
      at = 0
    }
    const byte = bytes[at] as number
    at += 1
    return byte / 256
  }
}
