/**
 * Ends an answer before the first stop string in its text, for stop strings that the upstream does not accept. One
 * Aho-Corasick automaton searches for all of them and reads each character once. Only the end of the text that may
 * be the start of a stop string is held back: with the stop string `END`, a text `the E` is passed on up to `the `.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import { createTextEndFilter, type TextEndDetector } from './end-answer-inside-text.ts'
import type { Stage } from '../../../core/stream/stage.ts'

/** Creates the filter. Ignores empty stop strings. */
export function createStopSequenceFilter(
  stops: readonly string[],
): Stage<StreamEvent, StreamEvent> {
  const root = buildAutomaton(stops.filter((stop) => stop !== ''))
  return createTextEndFilter(() => detectStopString(root))
}

/** Represents the longest prefix of a stop string with which the read text ends; the root for none. */
interface AutomatonState {
  readonly next: Map<number, AutomatonState>
  readonly prefixLength: number
  /** The state of the next shorter prefix with which the text ends; the root's is the root itself. */
  fallback: AutomatonState
  /** Length of the longest stop string that ends here; 0 for none. */
  matchLength: number
}

function createState(prefixLength: number, fallback?: AutomatonState): AutomatonState {
  const state = {
    next: new Map<number, AutomatonState>(),
    prefixLength,
    matchLength: 0,
  } as AutomatonState
  state.fallback = fallback ?? state
  return state
}

function buildAutomaton(stops: readonly string[]): AutomatonState {
  const root = createState(0)
  for (const stop of stops) {
    let state = root
    for (let index = 0; index < stop.length; index++) {
      const code = stop.charCodeAt(index)
      let next = state.next.get(code)
      if (next === undefined) state.next.set(code, (next = createState(index + 1, root)))
      state = next
    }
    state.matchLength = stop.length
  }
  // States are visited by length of prefix, because a fallback is computed from those of shorter prefixes.
  const states = [root]
  for (const state of states) {
    for (const [code, next] of state.next) {
      if (state !== root) next.fallback = findNextState(state.fallback, code)
      if (next.matchLength === 0) next.matchLength = next.fallback.matchLength
      states.push(next)
    }
  }
  return root
}

function findNextState(from: AutomatonState, code: number): AutomatonState {
  for (let state = from; ; state = state.fallback) {
    const next = state.next.get(code)
    if (next !== undefined) return next
    if (state.prefixLength === 0) return state
  }
}

/**
 * Finds the stop string that starts first, not the one that ends first: with `b` and `abc`, the text `abc` is cut
 * before `a`. A match therefore waits while an earlier start can still become a stop string.
 */
function detectStopString(root: AutomatonState): TextEndDetector {
  let state = root
  let readChars = 0
  let found: number | null = null
  let isCutShort = false
  return {
    read(text) {
      for (let index = 0; index < text.length; index++) {
        state = findNextState(state, text.charCodeAt(index))
        const end = readChars + index + 1
        if (state.matchLength > 0) found = Math.min(found ?? end, end - state.matchLength)
        if (found !== null && end - state.prefixLength >= found) {
          isCutShort = true
          return found
        }
      }
      readChars += text.length
      return readChars - state.prefixLength
    },
    settle() {
      state = root
      isCutShort = found !== null
      return found ?? readChars
    },
    isCutShort: () => isCutShort,
  }
}
