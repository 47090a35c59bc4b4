/**
 * Nine letters and digits that stand for a text, the same whenever they are asked for. Every
 * upstream with a rule for ids takes nine letters and digits (Mistral takes nothing else).
 */
export function shortHash(text: string): string {
  // cyrb53: two 32-bit hashes in one pass, of which 53 bits are used.
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
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

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
