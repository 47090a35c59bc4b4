/**
 * Extracts the search terms of a text: its distinct words, in lower case and without accents. Text in a
 * script without spaces is split into overlapping pairs of characters: 東京都 → 東京, 京都.
 */
export function extractSearchTerms(
  text: string,
  maxTerms: number = Number.POSITIVE_INFINITY,
): readonly string[] {
  const plain = text.toLowerCase().normalize('NFKD').replace(MARKS, '').normalize('NFKC')
  const words = new Set<string>()
  for (const [word] of plain.matchAll(WORDS)) {
    if (words.size >= maxTerms) break
    if (UNSPACED.test(word)) for (const pair of pairsOf(word)) words.add(pair)
    else words.add(word.slice(0, MAX_WORD_CHARS).toWellFormed())
  }
  return words.size > maxTerms ? [...words].slice(0, maxTerms) : [...words]
}

/** Returns the share of all terms that are in both lists, from 0 to 1, e.g. 0.5 for `a b c` and `b c d`. */
export function measureTermOverlap(terms: readonly string[], others: readonly string[]): number {
  if (terms.length === 0 || others.length === 0) return 0
  const known = new Set(others)
  const shared = terms.reduce((count, word) => (known.has(word) ? count + 1 : count), 0)
  return shared / (terms.length + others.length - shared)
}

const MARKS = /\p{M}/gu

const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{Script=${script}}`)
  .join('')

const WORDS = new RegExp(`[${SCRIPTS}ー]+|[[\\p{L}\\p{N}]--[${SCRIPTS}ー]]+`, 'gv')
const UNSPACED = new RegExp(`^[${SCRIPTS}ー]`, 'v')

const MAX_WORD_CHARS = 40

function pairsOf(word: string): readonly string[] {
  const characters = Array.from(word)
  if (characters.length === 1) return characters
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}
