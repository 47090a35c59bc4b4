/**
 * Scripts of a model's answers, in letters: `R` reasoning, `E` reasoning without text, `T` text, `C` and `X` tool calls, `H` a provider
 * tool. `|` waits for tool results, `~` stops the stream in the middle of the next part, and `!` is an error.
 * For example, `RTC|RT` reasons, writes text and calls a tool, and after the result reasons and answers;
 * `R~T` is stopped within its text. Every generated text is unique in the test process, so that a misplaced
 * one is recognized.
 */
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { AnswerPart } from '../services/simulated-model.ts'

export type ScriptPart = AnswerPart | { readonly type: 'hosted'; readonly query: string }

/** One planned answer of the upstream, and how it went. */
export interface PlannedAnswer {
  readonly parts: readonly ScriptPart[]
  /** The number of parts that are sent completely, if the stream stops in the next; else null. */
  readonly stall: number | null
  readonly isRefused: boolean
  /** The request that it answered. */
  received: JsonObject | null
  /** The text that was sent of the part in which it stopped. */
  sentText: string
  /** Resolves when the stream has stopped. */
  readonly stalled: PromiseWithResolvers<void>
  /** Resolves when the gateway has closed the request. */
  readonly givenUp: PromiseWithResolvers<void>
}

export function parseScript(letters: string): readonly PlannedAnswer[] {
  return letters.split('|').map((round) => {
    const stall = round.indexOf('~')
    const parts = Array.from(round.replaceAll(/[~!]/g, '')).map(parseLetter)
    return {
      parts,
      stall: stall < 0 ? null : stall,
      isRefused: round.includes('!'),
      received: null,
      sentText: '',
      stalled: Promise.withResolvers<void>(),
      givenUp: Promise.withResolvers<void>(),
    }
  })
}

/**
 * Removes the letters that a model's wire cannot express. A chat has each kind once, in a fixed order, and
 * only the Responses API has provider tools.
 */
export function lettersForModel(model: string, letters: string): string {
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

/** Returns a number that is unique in this process. */
export function nextNumber(): number {
  said += 1
  return said
}

function parseLetter(letter: string): ScriptPart {
  const number = nextNumber()
  switch (letter) {
    case 'R':
      return { type: 'thought', text: `${number} is what I think of: fog, ¿or not? 🦊` }
    case 'E':
      return { type: 'thought', text: '' }
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
      throw new Error(`There is no part ${letter}.`)
  }
}
