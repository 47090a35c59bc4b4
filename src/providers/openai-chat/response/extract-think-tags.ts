/**
 * Takes thinking out of the text of models whose server leaves it in there: `<think>…</think>` at
 * the very beginning, however the stream cuts it. Tags further in are the model's own words.
 */
import type { AnswerEventEmitter } from './answer-event-emitter.ts'

/** The same answer, for a server that takes the thinking out itself. */
export function extractThinkTags(
  answer: AnswerEventEmitter,
  kind: true | 'unopened' | undefined,
): AnswerEventEmitter {
  if (kind === undefined) return answer
  const tags = createTagParser(kind, answer.addText, (text) => answer.addReasoning(text, 'content'))
  return {
    ...answer,
    addText: tags.push,
    end(isWhole) {
      tags.end()
      answer.end(isWhole)
    },
  }
}

interface TagParser {
  readonly push: (text: string) => void
  /** Gives out what was held back while it might still have become a tag. */
  readonly end: () => void
}

const TAG_NAMES = ['think', 'thinking', 'reasoning', 'thought'] as const

/** `unopened`: the template has written the opening tag, so that the answer begins inside. */
function createTagParser(
  kind: true | 'unopened',
  said: (text: string) => void,
  thought: (text: string) => void,
): TagParser {
  let state: 'start' | 'thinking' | 'gap' | 'text' = kind === 'unopened' ? 'thinking' : 'start'
  let closing = `</${TAG_NAMES[0]}>`
  let held = ''

  const atStart = (): void => {
    const begun = held.trimStart()
    const tag = TAG_NAMES.find((name) => begun.startsWith(`<${name}>`))
    if (tag !== undefined) {
      closing = `</${tag}>`
      held = begun.slice(tag.length + 2)
      state = 'thinking'
      inThinking()
    } else if (!TAG_NAMES.some((name) => `<${name}>`.startsWith(begun))) {
      state = 'text'
      release(said)
    }
  }
  const inThinking = (): void => {
    const end = held.indexOf(closing)
    if (end < 0) {
      const keep = countPartialTagChars(held, closing)
      const ready = held.slice(0, held.length - keep)
      if (ready !== '') thought(ready)
      held = held.slice(held.length - keep)
      return
    }
    if (end > 0) thought(held.slice(0, end))
    held = held.slice(end + closing.length)
    state = 'gap'
    inGap()
  }
  /** The blank lines between thinking and answer belong to neither. */
  const inGap = (): void => {
    held = held.trimStart()
    if (held === '') return
    state = 'text'
    release(said)
  }
  const release = (to: (text: string) => void): void => {
    const text = held
    held = ''
    if (text !== '') to(text)
  }

  return {
    push(text) {
      if (state === 'text') return said(text)
      held += text
      if (state === 'start') atStart()
      else if (state === 'thinking') inThinking()
      else inGap()
    },
    end: () => release(state === 'thinking' ? thought : said),
  }
}

/** How many characters at the end of `text` are the beginning of `word`. */
function countPartialTagChars(text: string, word: string): number {
  for (let length = Math.min(text.length, word.length - 1); length > 0; length--) {
    if (text.endsWith(word.slice(0, length))) return length
  }
  return 0
}
