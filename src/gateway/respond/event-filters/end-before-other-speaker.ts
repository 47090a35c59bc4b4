/**
 * Ends an answer before a line of another speaker, e.g. `User: …`. Models that were trained on dialogues
 * sometimes also write the other speaker's lines.
 *
 * A line belongs to a speaker if it starts with a label: at most 64 characters with a letter or digit, and
 * a colon. There is no label in a line that starts with `[` or `<`, before the colon of a URL, a time or a
 * path (`https://`, `12:30`, `C:\`), or in a code fence. The first line of a text is never cut, because the
 * answer would be empty: `Answer: 42` has a label only by its form. The start of a line is held back while it
 * may become a label.
 */
import { createTextEndFilter, type TextEndDetector } from './end-answer-inside-text.ts'
import type { EventFilter } from './apply-event-filters.ts'

/**
 * Creates the filter. `ownLabels`: labels of the model, e.g. `Ada`. If there are none, a label at the start
 * of the answer is taken for that of the model.
 */
export function createOtherSpeakerFilter(ownLabels: readonly string[] = []): EventFilter {
  const labels = new Set(ownLabels.map(normalizeLabel))
  return createTextEndFilter(() => detectOtherSpeaker(labels))
}

const MAX_LABEL_CHARS = 64
/**
 * Maximum length of a line start that is held back: a label, its colon, and the next character, which shows
 * whether it is a label (not in `https://`).
 */
const MAX_HELD_CHARS = MAX_LABEL_CHARS + 2

function detectOtherSpeaker(ownLabels: Set<string>): TextEndDetector {
  let readChars = 0
  /** Start of the current line; null once it is known whether the line has a label. */
  let line: string | null = ''
  let fence: string | null = null
  let isFirstLine = true
  let isCutShort = false

  /** True if the line that starts with `start` belongs to another speaker. Also tracks code fences. */
  const isOtherSpeaker = (start: string, isCompleteLine: boolean): boolean => {
    if (fence !== null) {
      if (!isCompleteLine && start.length < MAX_HELD_CHARS) return false
      if (isCompleteLine && closesFence(start, fence)) fence = null
      line = null
      return false
    }
    const kind = classifyLine(start, isCompleteLine)
    if (kind === 'undecided') return false
    const startsText = isFirstLine
    if (start.trim() !== '') isFirstLine = false
    line = null
    if (kind === 'plain') return false
    if ('fence' in kind) fence = kind.fence
    else if (!ownLabels.has(kind.label)) {
      if (!startsText) return true
      if (ownLabels.size === 0) ownLabels.add(kind.label)
    }
    return false
  }
  return {
    findPassableEnd(text) {
      let index = 0
      while (index < text.length) {
        const newline = text.indexOf('\n', index)
        const end = newline < 0 ? text.length : newline
        if (line !== null) {
          const lineStart = readChars + index - line.length
          line += text.slice(index, Math.min(end, index + MAX_HELD_CHARS - line.length))
          isCutShort = isOtherSpeaker(line, newline >= 0)
          if (isCutShort) return lineStart
        }
        index = end
        if (newline < 0) break
        index += 1
        line = ''
      }
      readChars += text.length
      return fence === null && line !== null ? readChars - line.length : readChars
    },
    decideEnd() {
      const lineStart = readChars - (line?.length ?? 0)
      if (fence === null && line !== null && line !== '') {
        isCutShort = isOtherSpeaker(line, true)
        line = null
      }
      return isCutShort ? lineStart : readChars
    },
    isCutShort: () => isCutShort,
  }
}

/**
 * Classifies a line by its start: a label, a code fence, or plain text. `undecided` if more characters are
 * needed.
 */
function classifyLine(
  line: string,
  isCompleteLine: boolean,
): 'undecided' | 'plain' | { readonly fence: string } | { readonly label: string } {
  const start = line.trimStart()
  if (start === '') return isCompleteLine || line.length >= MAX_HELD_CHARS ? 'plain' : 'undecided'
  const first = start.charAt(0)
  if (first === '[' || first === '<') return 'plain'
  if (first === '`' || first === '~') {
    const fence = readRepeatedStart(start)
    if (fence === start && !isCompleteLine && line.length < MAX_HELD_CHARS) return 'undecided'
    if (fence.length >= 3) return { fence }
  }
  const colon = line.search(/[:：]/)
  if (colon < 0 ? line.length > MAX_LABEL_CHARS : colon > MAX_LABEL_CHARS) return 'plain'
  if (colon < 0) return isCompleteLine ? 'plain' : 'undecided'
  const label = line.slice(0, colon)
  if (!/[\p{L}\p{N}]/u.test(label)) return 'plain'
  const next = line.charAt(colon + 1)
  if (next === '' && !isCompleteLine && line.charAt(colon) === ':') return 'undecided'
  return /[\d/:\\]/.test(next) ? 'plain' : { label: normalizeLabel(label) }
}

/** Returns the repeated first character of a text: `~~~js` → `~~~`. */
function readRepeatedStart(text: string): string {
  const first = text.charAt(0)
  let end = 1
  while (text.charAt(end) === first) end += 1
  return text.slice(0, end)
}

function closesFence(line: string, fence: string): boolean {
  const text = line.trim()
  return text.startsWith(fence) && readRepeatedStart(text) === text
}

/** Removes emphasis from a label and converts it to lower case: `**Ada**` → `ada`. */
function normalizeLabel(label: string): string {
  return label
    .replaceAll(/[*_\s]+/g, ' ')
    .trim()
    .toLowerCase()
}
