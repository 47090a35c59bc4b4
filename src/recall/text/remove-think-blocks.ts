/**
 * What is left of a text where its client takes thinking out of it. Open WebUI does so wherever it finds
 * one of these tags, in code as well, whether a model thinks there or speaks of the tag. What stood
 * around a block is then parted by blanks.
 */

/** The texts that are left; `null` if nothing would be cut. */
export function splitAtThinkBlocks(
  text: string,
  unclosed: UnclosedBlockRule,
): readonly string[] | null {
  // A look that nearly every text passes.
  if (!text.includes('<') && !text.includes('◁')) return null
  const first = START.exec(text)
  if (first === null) return null
  const left: string[] = []
  let from = 0
  for (let found: RegExpExecArray | null = first; found !== null;) {
    const start = found.index
    const end = endOf(found, text)
    if (end === null && unclosed === 'kept') break
    left.push(text.slice(from, start))
    from = end ?? text.length
    NEXT.lastIndex = from
    found = NEXT.exec(text)
  }
  if (from === 0) return null
  return [...left, text.slice(from)].filter((piece) => piece.trim() !== '')
}

/** Of a block that is not closed the client may have nothing, or all. */
export type UnclosedBlockRule = 'cut' | 'kept'

/** The text as such a client has it at the least; as it is where nothing would be left of it. */
export function removeThinkBlocks(text: string): string {
  const left = splitAtThinkBlocks(text, 'cut')
  return left === null || left.length === 0 ? text : left.join('\n')
}

/** What a model has thought before it spoke: that its client has taken it out is right. */
export function startsWithThinkBlock(text: string): boolean {
  return START.exec(text.trimStart())?.index === 0
}

function endOf(found: RegExpExecArray, text: string): number | null {
  const [start, name] = found
  const close = name === undefined ? (CLOSING[start] ?? '') : `</${name}>`
  const at = text.indexOf(close, found.index + start.length)
  return at < 0 ? null : at + close.length
}

const TAGS = String.raw`<(think|thinking|reason|reasoning|[tT]hought)(?:\s[^>\n]{0,200})?>|<\|begin_of_thought\|>|◁think▷`
const START = new RegExp(TAGS)
const NEXT = new RegExp(TAGS, 'g')
const CLOSING: Readonly<Record<string, string>> = {
  '<|begin_of_thought|>': '<|end_of_thought|>',
  '◁think▷': '◁/think▷',
}
