/**
 * The words of a text, by which it is found again and told apart from others: in lower case, without
 * accents, each once. What is written without spaces is cut into pairs of characters.
 */
export function extractSearchTerms(
  text: string,
  most: number = Number.POSITIVE_INFINITY,
): readonly string[] {
  const plain = text.toLowerCase().normalize('NFKD').replace(MARKS, '').normalize('NFKC')
  const words = new Set<string>()
  for (const [run] of plain.matchAll(RUNS)) {
    if (words.size >= most) break
    if (UNSPACED.test(run)) for (const pair of pairsOf(run)) words.add(pair)
    else words.add(run.slice(0, MAX_WORD_CHARS).toWellFormed())
  }
  return words.size > most ? [...words].slice(0, most) : [...words]
}

/** From 0 to 1: how many of the words that two texts have between them stand in both. */
export function compareTerms(some: readonly string[], others: readonly string[]): number {
  if (some.length === 0 || others.length === 0) return 0
  const known = new Set(others)
  const shared = some.reduce((count, word) => (known.has(word) ? count + 1 : count), 0)
  return shared / (some.length + others.length - shared)
}

const MARKS = /\p{M}/gu

const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{Script=${script}}`)
  .join('')

const RUNS = new RegExp(`[${SCRIPTS}ー]+|[[\\p{L}\\p{N}]--[${SCRIPTS}ー]]+`, 'gv')
const UNSPACED = new RegExp(`^[${SCRIPTS}ー]`, 'v')

const MAX_WORD_CHARS = 40

function pairsOf(run: string): readonly string[] {
  const characters = Array.from(run)
  if (characters.length === 1) return characters
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`)
}
