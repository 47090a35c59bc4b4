/**
 * Whether a Markdown text stands in a formula of several lines, as its lines tell one by one. Only
 * some clients know formulas; to these, everything up to the end of one belongs to it.
 */
export interface MathBlockTracker {
  /** The next line with words, which is no code. */
  readonly read: (line: string) => void
  readonly isOpen: () => boolean
}

export function trackMarkdownMathBlocks(): MathBlockTracker {
  let isInDollars = false
  let isInBrackets = false
  let depth = 0
  return {
    read(line) {
      if (!line.includes('$$') && !line.includes('\\')) return
      for (const [sign] of line.replace(CODE, '').matchAll(SIGNS)) {
        if (sign === '$$') isInDollars = !isInDollars
        else if (sign === '\\[') isInBrackets = true
        else if (sign === '\\]') isInBrackets = false
        else if (sign === '\\begin{') depth += 1
        else if (sign === '\\end{') depth = Math.max(0, depth - 1)
      }
    },
    isOpen: () => isInDollars || isInBrackets || depth > 0,
  }
}

const CODE = /`[^`]*`/g
/** A doubled backslash begins a new row, and nothing else. */
const SIGNS = /\\\\|\\\[|\\\]|\\begin\{|\\end\{|\$\$/g
