/**
 * Moves `<think>…</think>` from the start of an answer's text to reasoning, for servers that leave
 * these tags in the text. A tag may be split between chunks. Tags further on in the text are not
 * moved, because the model wrote them itself.
 */
import type { AnswerEventEmitter } from './answer-event-emitter.ts'

/** Wraps `answer`, or returns it unchanged if the upstream has no `thinkTags` quirk. */
export function extractThinkTags(
  answer: AnswerEventEmitter,
  kind: true | 'unopened' | undefined,
): AnswerEventEmitter {
  if (kind === undefined) return answer
  const parser = createTagParser(kind, answer.addText, (text) =>
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
  /** Emits the buffered text, which was the possible beginning of a tag. */
  readonly end: () => void
}

const TAG_NAMES = ['think', 'thinking', 'reasoning', 'thought'] as const

/**
 * Creates the parser. `unopened` means that the opening tag is part of the prompt, so the answer
 * begins after it.
 */
function createTagParser(
  kind: true | 'unopened',
  emitText: (text: string) => void,
  emitReasoning: (text: string) => void,
): TagParser {
  let state: 'start' | 'thinking' | 'gap' | 'text' = kind === 'unopened' ? 'thinking' : 'start'
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
  /** Skips the blank lines between the closing tag and the answer. */
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
 * Counts the characters at the end of `text` that may begin `tag`: `'done</th'`, `'</think>'` → 4.
 */
function countPartialTagChars(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length
  }
  return 0
}
