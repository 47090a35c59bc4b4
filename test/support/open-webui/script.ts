/**
 * What the model is going to say, in letters: `R` reasons, `T` talks, `C` calls a tool, `H` uses a
 * tool of the provider's own. `|` waits for the results of the tools, `~` stands before what the user
 * does not hear to its end, and `!` is an answer that is refused. So `RTC|RT` thinks, says something,
 * calls, and with the result thinks again and answers; `R~T` is stopped in the middle of its text.
 *
 * Every word is said once only, in all the tests of a process: what turns up in the wrong place is
 * known by that.
 */
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Beat } from '../services/model.ts'

export type ScriptBeat = Beat | { readonly type: 'hosted'; readonly query: string }

/** One answer of the upstream, as planned, and what came of it. */
export interface Planned {
  readonly beats: readonly ScriptBeat[]
  /** How many of them are told whole, if it falls silent in the middle of the next. */
  readonly stall: number | null
  readonly isRefused: boolean
  /** The request that it was the answer to. */
  received: JsonObject | null
  /** Of the beat in which it fell silent, what was told. */
  toldPart: string
  /** Resolves when it has fallen silent. */
  readonly stalled: PromiseWithResolvers<void>
  /** Resolves when the gateway has given up on it. */
  readonly givenUp: PromiseWithResolvers<void>
}

export function scriptOf(letters: string): readonly Planned[] {
  return letters.split('|').map((round) => {
    const stall = round.indexOf('~')
    const beats = Array.from(round.replaceAll(/[~!]/g, '')).map(beatOf)
    return {
      beats,
      stall: stall < 0 ? null : stall,
      isRefused: round.includes('!'),
      received: null,
      toldPart: '',
      stalled: Promise.withResolvers<void>(),
      givenUp: Promise.withResolvers<void>(),
    }
  })
}

/**
 * The letters of a script that a model's wire has a word for. A chat tells of each kind once, in one
 * order, and only the Responses API tells of the provider's own tools.
 */
export function spokenBy(model: string, letters: string): string {
  if (model.startsWith('gpt-')) return letters
  const rounds = letters.replaceAll('H', '').split('|')
  return (model.startsWith('glm-') ? rounds.map(inChatOrder) : rounds).join('|')
}

function inChatOrder(round: string): string {
  let kept = ''
  for (const letter of round) {
    const last = kept.replaceAll(/[~!]/g, '').at(-1) ?? ''
    const isLate = CHAT_ORDER.indexOf(letter) < CHAT_ORDER.indexOf(last)
    const isTwice = letter === last && !CALLS.includes(letter)
    if ('~!'.includes(letter) || !(isLate || isTwice)) kept += letter
  }
  return kept.replace(/~$/, '')
}

const CALLS = 'CX'
const CHAT_ORDER = `RT${CALLS}`

let said = 0

/** A number that nothing else in this process is told by. */
export function nextNumber(): number {
  said += 1
  return said
}

function beatOf(letter: string): ScriptBeat {
  const number = nextNumber()
  switch (letter) {
    case 'R':
      return { type: 'thought', text: `${number} is what I think of: fog, ¿or not? 🦊` }
    case 'T':
      return {
        type: 'text',
        text: `Say ${number}:\n\n- it is *cold* & grey\n- “so”\n\nThat is all.`,
      }
    case 'C':
      return { type: 'call', name: 'look', input: { at: `Plätz ${number}`, closely: true } }
    case 'X':
      return { type: 'call', name: 'vanish', input: { at: number } }
    case 'H':
      return { type: 'hosted', query: `search number ${number}` }
    default:
      throw new Error(`There is no beat ${letter}.`)
  }
}
