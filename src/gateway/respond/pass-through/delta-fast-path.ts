/**
 * Takes events that are like the one before but for their words. That nothing else differs is told
 * from their text alone, without parsing it, and a stream of tokens is mostly made of these. What
 * they said is told later as one such event with all their words: whoever follows the stream stands
 * then where each of them by itself would have left him.
 */
import {
  fillDeltaTemplate,
  deriveDeltaTemplate,
  matchDeltaTemplate,
  type DeltaTemplate,
} from './delta-template.ts'
import type { SseMessage, TextDeltaPattern } from '../../../core/stream/stage.ts'

export interface DeltaFastPath {
  /** These events as the client is told them; `null` if not all are like the one that was learned. */
  readonly take: (text: string) => string | null
  /** What was taken, as one event. Nothing more is taken until another one was learned. */
  readonly taken: () => SseMessage | null
  /** From now on others are compared with this event, the last one in `text`, and are told as it is. */
  readonly learn: (text: string, message: SseMessage, told: SseMessage) => void
}

export function createDeltaFastPath(alone: TextDeltaPattern): DeltaFastPath {
  let form: DeltaTemplate | null = null
  let said = ''
  let newest: readonly string[] | null = null
  const patience = backOff()

  return {
    take(text) {
      if (form === null || text.length > LARGE_CHARS || said.length > MUCH_CHARS) return null
      const { raw, told, words } = form
      let values: string[] = []
      let more = ''
      let ours = ''
      for (let at = 0; at < text.length;) {
        values = []
        at = matchDeltaTemplate(raw, text, at, values)
        if (at < 0) return null
        more += values[words]
        if (told !== null) ours += fillDeltaTemplate(told, values)
      }
      said += more
      newest = values
      patience.restore()
      return told === null ? text : ours
    },
    taken() {
      const last = newest
      const like = form
      const words = said
      form = newest = null
      said = ''
      if (last === null || like === null) return null
      return { event: like.event, data: fillDeltaTemplate(like.data, last.with(like.words, words)) }
    },
    learn(text, message, told) {
      if (message.data.length > LARGE_CHARS || patience.isOver()) return
      form = deriveDeltaTemplate(text, message, told, alone)
    },
  }
}

/** A burst is read quickly as it is, and what fits only at first would be read twice. */
const LARGE_CHARS = 64 * 1024
/** Words hold on to the text that they were cut out of: they are read before there are too many. */
const MUCH_CHARS = 16 * 1024

/** Where no event is like the one before, less and less is learned. */
function backOff() {
  let unused = 0
  let wait = 0
  return {
    isOver(): boolean {
      wait -= 1
      if (wait >= 0) return true
      wait = unused
      unused = Math.min(unused * 2 + 1, MOST_WAITING)
      return false
    },
    restore(): void {
      unused = wait = 0
    },
  }
}

const MOST_WAITING = 63
