/**
 * Ends an answer in front of a line that another speaker would begin, as `User: …`. Models that have
 * read many dialogues go on with the other side's part.
 *
 * A line is somebody's when it begins with a label: up to 64 characters with a letter or a digit
 * among them, and a colon. No label is what begins with `[` or `<`, what a URL, a time or a path has
 * in front of its colon, and anything inside a code fence. What is held back is the beginning of the
 * current line, as long as it may become a label.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import { createTextEndFilter, type TextEndDetector } from './end-answer-inside-text.ts'
import type { Stage } from '../../../core/stream/stage.ts'

/**
 * `ownLabels` are those of the speaker itself. If there are none, the label that the answer opens
 * with is taken for one.
 */
export function createOtherSpeakerFilter(
  ownLabels: readonly string[] = [],
): Stage<StreamEvent, StreamEvent> {
  const own = new Set(ownLabels.map(plain))
  return createTextEndFilter(() => watchFor(own))
}

const MAX_LABEL = 64
/** A label, its colon, and what tells whether that is one. */
const MAX_HELD = MAX_LABEL + 2

function watchFor(own: Set<string>): TextEndDetector {
  let read = 0
  /** What is known of the current line; `null` when the rest of it does not matter. */
  let line: string | null = ''
  let fence: string | null = null
  let isUnopened = true
  let isCut = false

  /** `isWhole`: more of the line does not come. Returns whether it is another speaker's. */
  const judge = (begun: string, isWhole: boolean): boolean => {
    if (fence !== null) {
      if (!isWhole && begun.length < MAX_HELD) return false
      if (isWhole && closes(begun, fence)) fence = null
      line = null
      return false
    }
    const found = kindOf(begun, isWhole)
    if (found === 'open') return false
    const isOpening = isUnopened
    if (begun.trim() !== '') isUnopened = false
    line = null
    if (found === 'plain') return false
    if ('fence' in found) fence = found.fence
    else if (!own.has(found.label)) {
      if (own.size > 0 || !isOpening) return true
      own.add(found.label)
    }
    return false
  }
  return {
    read(text) {
      let at = 0
      while (at < text.length) {
        const newline = text.indexOf('\n', at)
        const end = newline < 0 ? text.length : newline
        if (line !== null) {
          const start = read + at - line.length
          line += text.slice(at, Math.min(end, at + MAX_HELD - line.length))
          isCut = judge(line, newline >= 0)
          if (isCut) return start
        }
        at = end
        if (newline < 0) break
        at += 1
        line = ''
      }
      read += text.length
      return fence === null && line !== null ? read - line.length : read
    },
    settle() {
      const start = read - (line?.length ?? 0)
      if (fence === null && line !== null && line !== '') {
        isCut = judge(line, true)
        line = null
      }
      return isCut ? start : read
    },
    isCutShort: () => isCut,
  }
}

/** What a line is, by its beginning; `open` while that cannot be told. */
function kindOf(
  line: string,
  isWhole: boolean,
): 'open' | 'plain' | { readonly fence: string } | { readonly label: string } {
  const start = line.trimStart()
  if (start === '') return isWhole || line.length >= MAX_HELD ? 'plain' : 'open'
  const first = start.charAt(0)
  if (first === '[' || first === '<') return 'plain'
  if (first === '`' || first === '~') {
    const run = runOf(start)
    if (run === start && !isWhole && line.length < MAX_HELD) return 'open'
    if (run.length >= 3) return { fence: run }
  }
  const colon = line.search(/[:：]/)
  if (colon < 0 ? line.length > MAX_LABEL : colon > MAX_LABEL) return 'plain'
  if (colon < 0) return isWhole ? 'plain' : 'open'
  const label = line.slice(0, colon)
  if (!/[\p{L}\p{N}]/u.test(label)) return 'plain'
  const behind = line.charAt(colon + 1)
  if (behind === '' && !isWhole && line.charAt(colon) === ':') return 'open'
  return /[\d/:\\]/.test(behind) ? 'plain' : { label: plain(label) }
}

/** As many of its first character as it begins with. */
function runOf(text: string): string {
  const first = text.charAt(0)
  let end = 1
  while (text.charAt(end) === first) end += 1
  return text.slice(0, end)
}

function closes(line: string, fence: string): boolean {
  const text = line.trim()
  return text.startsWith(fence) && runOf(text) === text
}

/** A label without its emphasis, as in `**Ada**`. */
function plain(label: string): string {
  return label
    .replaceAll(/[*_\s]+/g, ' ')
    .trim()
    .toLowerCase()
}
