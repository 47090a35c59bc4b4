/**
 * Returns a hash of nine letters and digits. Every upstream accepts this form of id; Mistral
 * accepts no other.
 */
export function shortHash(text: string): string {
  // This is cyrb53: two 32-bit hashes are computed in one pass, and 53 of their bits are used.
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    high = Math.imul(high ^ code, 2654435761)
    low = Math.imul(low ^ code, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  let number = 4294967296 * (2097151 & low) + (high >>> 0)
  let out = ''
  for (let digits = 0; digits < 9; digits++) {
    out += ALPHABET.charAt(number % 62)
    number = Math.floor(number / 62)
  }
  return out
}

/**
 * Returns a 32-bit FNV-1a hash of the text's UTF-16 code units, which is the same on all platforms.
 */
export function hashFnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
