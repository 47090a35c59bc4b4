/**
 * Removes think blocks, e.g. `<think>…</think>`, as Open WebUI does before it sends a text back, so
 * that this text can be compared with the recorded one. Blocks are removed even in code, and even
 * if the model only mentions the tag.
 */

/**
 * Returns the non-blank texts before, between and after the think blocks: `'a<think>b</think>c'` →
 * `['a', 'c']`. Returns `null` if there is no block to remove.
 */
export function listTextsAroundThinkBlocks(
  text: string,
  unclosedRule: UnclosedBlockRule,
): readonly string[] | null {
  // Most texts have neither character, and this check is cheaper than the regular expression.
  if (!text.includes('<') && !text.includes('◁')) return null
  const firstOpening = FIRST_OPENING_TAG.exec(text)
  if (firstOpening === null) return null
  const pieces: string[] = []
  let pieceStart = 0
  for (let opening: RegExpExecArray | null = firstOpening; opening !== null;) {
    const end = findBlockEnd(opening, text)
    if (end === null && unclosedRule === 'keep') break
    pieces.push(text.slice(pieceStart, opening.index))
    pieceStart = end ?? text.length
    NEXT_OPENING_TAG.lastIndex = pieceStart
    opening = NEXT_OPENING_TAG.exec(text)
  }
  if (pieceStart === 0) return null
  return [...pieces, text.slice(pieceStart)].filter((piece) => piece.trim() !== '')
}

/**
 * How a client treats a think block without an end tag: `cut` removes it with all text after it,
 * `keep` removes nothing.
 */
export type UnclosedBlockRule = 'cut' | 'keep'

/**
 * Returns the text without think blocks. Returns the text unchanged if nothing but think blocks is
 * in it.
 */
export function removeThinkBlocks(text: string): string {
  const pieces = listTextsAroundThinkBlocks(text, 'cut')
  return pieces === null || pieces.length === 0 ? text : pieces.join('\n')
}

/**
 * True if the text starts with a think block. Such a block is real reasoning that clients remove on
 * purpose, so it is not restored.
 */
export function startsWithThinkBlock(text: string): boolean {
  return FIRST_OPENING_TAG.exec(text.trimStart())?.index === 0
}

function findBlockEnd(opening: RegExpExecArray, text: string): number | null {
  const [tag, name] = opening
  const closingTag = name === undefined ? (OTHER_CLOSING_TAGS[tag] ?? '') : `</${name}>`
  const closingStart = text.indexOf(closingTag, opening.index + tag.length)
  return closingStart < 0 ? null : closingStart + closingTag.length
}

const OPENING_TAG = String.raw`<(think|thinking|reason|reasoning|[tT]hought)(?:\s[^>\n]{0,200})?>|<\|begin_of_thought\|>|◁think▷`
const FIRST_OPENING_TAG = new RegExp(OPENING_TAG)
const NEXT_OPENING_TAG = new RegExp(OPENING_TAG, 'g')
const OTHER_CLOSING_TAGS: Readonly<Record<string, string>> = {
  '<|begin_of_thought|>': '<|end_of_thought|>',
  '◁think▷': '◁/think▷',
}
