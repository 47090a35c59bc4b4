/**
 * Ends an answer in front of the first stop string in its text, for those that its upstream was not
 * told. All of them are looked for at once, by one automaton (Aho and Corasick's): a character is
 * read once, and what is held back is the longest end of the text that may be the beginning of one.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import { createTextEndFilter, type TextEndDetector } from './end-answer-inside-text.ts'
import type { Stage } from '../../../core/stream/stage.ts'

/** An empty stop string says nothing. */
export function createStopSequenceFilter(
  stops: readonly string[],
): Stage<StreamEvent, StreamEvent> {
  const root = automatonOf(stops.filter((stop) => stop !== ''))
  return createTextEndFilter(() => watchFor(root))
}

/** One for each beginning of a stop string: what was read last is that beginning, and none longer. */
interface State {
  readonly next: Map<number, State>
  readonly length: number
  /** Its longest end that is a beginning as well; the root's is itself. */
  shorter: State
  /** Length of the longest stop string that ends here; 0 for none. */
  ended: number
}

function newState(length: number, shorter?: State): State {
  const state = { next: new Map<number, State>(), length, ended: 0 } as State
  state.shorter = shorter ?? state
  return state
}

function automatonOf(stops: readonly string[]): State {
  const root = newState(0)
  for (const stop of stops) {
    let state = root
    for (let at = 0; at < stop.length; at++) {
      const code = stop.charCodeAt(at)
      let next = state.next.get(code)
      if (next === undefined) state.next.set(code, (next = newState(at + 1, root)))
      state = next
    }
    state.ended = stop.length
  }
  // By length, so that whatever is shorter is known already.
  const states = [root]
  for (const state of states) {
    for (const [code, next] of state.next) {
      if (state !== root) next.shorter = follow(state.shorter, code)
      if (next.ended === 0) next.ended = next.shorter.ended
      states.push(next)
    }
  }
  return root
}

function follow(from: State, code: number): State {
  for (let state = from; ; state = state.shorter) {
    const next = state.next.get(code)
    if (next !== undefined) return next
    if (state.length === 0) return state
  }
}

/**
 * The first is the one that begins first. While a beginning in front of one that was found can still
 * become a stop string, there is no telling.
 */
function watchFor(root: State): TextEndDetector {
  let state = root
  let read = 0
  let found: number | null = null
  let isCut = false
  return {
    read(text) {
      for (let at = 0; at < text.length; at++) {
        state = follow(state, text.charCodeAt(at))
        const end = read + at + 1
        if (state.ended > 0) found = Math.min(found ?? end, end - state.ended)
        if (found !== null && end - state.length >= found) {
          isCut = true
          return found
        }
      }
      read += text.length
      return read - state.length
    },
    settle() {
      state = root
      isCut = found !== null
      return found ?? read
    },
    isCutShort: () => isCut,
  }
}
