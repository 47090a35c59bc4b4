/**
 * Ends an answer before the first stop string in its text. Needed for stop strings that the upstream does
 * not accept. An Aho-Corasick automaton searches for all stop strings at once. Text is held back only if it
 * may be the start of a stop string: with the stop string `END`, the text `the E` is passed on up to `the
 * `.
 */
import { createTextEndFilter, type TextEndDetector } from './end-answer-inside-text.ts'
import type { EventFilter } from './apply-event-filters.ts'

/** Creates the filter for the stop strings. Ignores empty strings. */
export function createStopSequenceFilter(stops: readonly string[]): EventFilter {
  const root = buildAutomaton(stops.filter((stop) => stop !== ''))
  return createTextEndFilter(() => detectStopString(root))
}

/**
 * State of the automaton: the longest prefix of a stop string that is also the end of the text so far. The
 * prefix of the root is empty.
 */
interface AutomatonState {
  readonly next: Map<number, AutomatonState>
  readonly prefixLength: number
  /** State of the next shorter prefix that is also the end of the text; for the root, the root itself. */
  fallback: AutomatonState
  /** Length of the longest stop string that is at the end of the text in this state; 0 for none. */
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
  // Shorter prefixes come first, because the fallback of a state is found with the fallbacks of shorter
  // ones.
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
 * Detects the stop string that starts first, even if another one ends earlier. With `b` and `abc`, the text
 * `abc` is cut before `a`: after `ab`, the detector waits, because `abc` may follow.
 */
function detectStopString(root: AutomatonState): TextEndDetector {
  let state = root
  let readChars = 0
  let found: number | null = null
  let isCutShort = false
  return {
    findPassableEnd(text) {
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
    decideEnd() {
      state = root
      isCutShort = found !== null
      return found ?? readChars
    },
    isCutShort: () => isCutShort,
  }
}
