/**
 * What is left of a text where its client takes thinking out of it. Open WebUI does so wherever it finds
 * one of these tags, in code as well, whether a model thinks there or speaks of the tag. What stood
 * around a block is then parted by blanks.
 */

/** The texts that are left; `null` if nothing would be cut. */
export function splitAtThinkBlocks(
  text: string,
  unclosedRule: UnclosedBlockRule,
): readonly string[] | null {
  // A look that nearly every text passes.
  if (!text.includes('<') && !text.includes('◁')) return null
  const firstOpening = FIRST_OPENING_TAG.exec(text)
  if (firstOpening === null) return null
  const pieces: string[] = []
  let pieceStart = 0
  for (let opening: RegExpExecArray | null = firstOpening; opening !== null;) {
    const end = findBlockEnd(opening, text)
    if (end === null && unclosedRule === 'kept') break
    pieces.push(text.slice(pieceStart, opening.index))
    pieceStart = end ?? text.length
    NEXT_OPENING_TAG.lastIndex = pieceStart
    opening = NEXT_OPENING_TAG.exec(text)
  }
  if (pieceStart === 0) return null
  return [...pieces, text.slice(pieceStart)].filter((piece) => piece.trim() !== '')
}

/** Of a block that is not closed the client may have nothing, or all. */
export type UnclosedBlockRule = 'cut' | 'kept'

/** The text as such a client has it at the least; as it is where nothing would be left of it. */
export function removeThinkBlocks(text: string): string {
  const pieces = splitAtThinkBlocks(text, 'cut')
  return pieces === null || pieces.length === 0 ? text : pieces.join('\n')
}

/** What a model has thought before it spoke: that its client has taken it out is right. */
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
