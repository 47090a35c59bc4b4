/**
 * Moves `<think>…</think>` from the beginning of an answer's text to a reasoning item, for servers
 * that send reasoning within the text. Recognizes a tag that is split between chunks. Does not move
 * tags further on in the text, because the model means them as text.
 */
import type { DeltaFieldsDecoder } from './delta-fields-decoder.ts'

/**
 * Returns a decoder that moves the tags before it passes text on to `answer`; without the quirk
 * `thinkTags`, returns `answer` itself.
 */
export function extractThinkTags(
  answer: DeltaFieldsDecoder,
  thinkTags: true | 'unopened' | undefined,
): DeltaFieldsDecoder {
  if (thinkTags === undefined) return answer
  const parser = createTagParser(thinkTags, answer.addText, (text) =>
    answer.addReasoning(text, 'content'),
  )
  return {
    ...answer,
    addText: parser.push,
    end(isComplete) {
      parser.end()
      answer.end(isComplete)
    },
  }
}

interface TagParser {
  readonly push: (text: string) => void
  /** Emits the text that was buffered because it might have been the beginning of a tag. */
  readonly end: () => void
}

const TAG_NAMES = ['think', 'thinking', 'reasoning', 'thought'] as const

/**
 * Creates the parser. With `unopened`, the answer begins within the thinking, because the prompt
 * contains the opening tag.
 */
function createTagParser(
  thinkTags: true | 'unopened',
  emitText: (text: string) => void,
  emitReasoning: (text: string) => void,
): TagParser {
  let state: 'start' | 'thinking' | 'gap' | 'text' = thinkTags === 'unopened' ? 'thinking' : 'start'
  let closingTag = `</${TAG_NAMES[0]}>`
  let buffer = ''

  const readStart = (): void => {
    const start = buffer.trimStart()
    const tag = TAG_NAMES.find((name) => start.startsWith(`<${name}>`))
    if (tag !== undefined) {
      closingTag = `</${tag}>`
      buffer = start.slice(tag.length + 2)
      state = 'thinking'
      readThinking()
    } else if (!TAG_NAMES.some((name) => `<${name}>`.startsWith(start))) {
      state = 'text'
      flush(emitText)
    }
  }
  const readThinking = (): void => {
    const end = buffer.indexOf(closingTag)
    if (end < 0) {
      const readyChars = buffer.length - countPartialTagChars(buffer, closingTag)
      const ready = buffer.slice(0, readyChars)
      if (ready !== '') emitReasoning(ready)
      buffer = buffer.slice(readyChars)
      return
    }
    if (end > 0) emitReasoning(buffer.slice(0, end))
    buffer = buffer.slice(end + closingTag.length)
    state = 'gap'
    readGap()
  }
  /** Skips blank lines between the closing tag and the text. */
  const readGap = (): void => {
    buffer = buffer.trimStart()
    if (buffer === '') return
    state = 'text'
    flush(emitText)
  }
  const flush = (emit: (text: string) => void): void => {
    const text = buffer
    buffer = ''
    if (text !== '') emit(text)
  }

  return {
    push(text) {
      if (state === 'text') return emitText(text)
      buffer += text
      if (state === 'start') readStart()
      else if (state === 'thinking') readThinking()
      else readGap()
    },
    end: () => flush(state === 'thinking' ? emitReasoning : emitText),
  }
}

/**
 * Counts the characters at the end of `text` that may be the beginning of `tag`: `'done</th'`,
 * `'</think>'` → 4.
 */
function countPartialTagChars(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length
  }
  return 0
}
