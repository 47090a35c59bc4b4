/**
 * Compares every request of a chat with the oracle, and checks every answer. Records everything that the
 * model produced for each answer.
 */
import type { JsonObject } from '../../../src/core/json/json.ts'
import { textIn } from '../services/service.ts'
import type { ChatAnswer, Chat } from './chat.ts'
import { pathTo } from './chat-tree.ts'
import type { Account, Round } from './client.ts'
import { buildHeaders } from './headers.ts'
import { promptLines } from './prompt-lines.ts'
import {
  comparePrompt,
  computeExpectedPrompt,
  expectedRounds,
  isUnchanged,
  joinTextsBefore,
  type Difference,
  type Expected,
  type AnswerRecord,
} from './oracle.ts'
import type { PlannedAnswer } from './script.ts'
import type { ChatMessage } from './to-messages.ts'
import { markersIn } from './check-answer.ts'

/** A request that differs from the oracle's, with the gateway's notes. */
export interface Gap extends Difference {
  readonly step: string
  readonly notes: readonly string[]
}

export interface Watcher {
  readonly gaps: Gap[]
  readonly explained: Gap[]
  readonly faults: string[]
  readonly received: JsonObject[]
  readonly truths: Map<string, AnswerRecord>
  readonly truthOf: (id: string) => AnswerRecord
  /** `kept` is the record of the answer that is being continued. */
  readonly watch: (seen: ObservedAnswer) => Promise<void>
}

export interface ObservedAnswer {
  readonly step: string
  readonly answered: ChatAnswer
  readonly rounds: readonly PlannedAnswer[]
  readonly kept?: AnswerRecord | undefined
}

export const NO_ANSWER: AnswerRecord = {
  rounds: [],
  isEdited: false,
  keepsMarker: true,
  isContinued: false,
  textsBefore: '',
}

export function createWatcher(
  chat: Chat,
  account: Account,
  hasMarkers: boolean,
  known: ReadonlyMap<string, AnswerRecord>,
): Watcher {
  const isNamed = hasMarkers && account.profile === 'full' && account.tellPosition === undefined
  const truths = new Map(known)
  const [gaps, explained, faults, received]: [Gap[], Gap[], string[], JsonObject[]] = [
    [],
    [],
    [],
    [],
  ]
  const truthOf = (id: string): AnswerRecord => truths.get(id) ?? NO_ANSWER

  const wantedFor = (
    { answered, rounds, kept = NO_ANSWER }: ObservedAnswer,
    at: number,
  ): readonly Expected[] => {
    const path = pathTo(chat.tree(), answered.node.parent)
    const { users, words, isMarked } = questionsAndText(answered.rounds[at]?.messages ?? [])
    const before = [...kept.rounds, ...rounds.slice(0, at)]
    const own = expectedRounds(before, kept.isEdited ? words : null)
    // The text of a continued answer belongs to no single turn.
    const isKnown = isNamed
      ? true
      : hasMarkers
        ? !kept.isEdited || (kept.keepsMarker && isMarked)
        : at === 0 && isUnchanged(kept, path)
    const isFindable = kept === NO_ANSWER || isKnown
    return [
      ...computeExpectedPrompt(path, truthOf, users, { hasMarkers, isNamed }),
      { ...own, isFindable },
    ]
  }
  /** Resolves to true if the gateway has a note for the missing items, or had one in the round before. */
  const compare = async (
    seen: ObservedAnswer,
    round: Round,
    at: number,
    wasExplained: boolean,
  ): Promise<boolean> => {
    const { step, rounds } = seen
    const body = rounds[at]?.received ?? null
    if (body === null) {
      faults.push(`${step}: round ${at} did not reach the model`)
      return false
    }
    received.push(body)
    const lines = withoutPrompting(promptLines(body))
    const wanted = wantedFor(seen, at)
    const gap = comparePrompt(wanted, lines)
    if (gap === null) return false
    const notes = await loadNotes(account, round)
    const losses = wanted.map((one) => ({ ...one, isFindable: false }))
    // A named response is continued as it was made.
    const isSaid = notes.some(saysWhy) || (wasExplained && 'previous_response_id' in round.body)
    const isExplained = isSaid && comparePrompt(losses, lines) === null
    const list = isExplained ? explained : gaps
    list.push({ step, ...gap, notes })
    return isExplained
  }
  return {
    gaps,
    explained,
    faults,
    received,
    truths,
    truthOf,
    async watch(seen) {
      const { step, answered, rounds, kept = NO_ANSWER } = seen
      const { node } = answered
      let isExplained = false
      for (const [at, round] of answered.rounds.entries()) {
        faults.push(...round.faults.map((fault) => `${step}: ${fault}`))
        isExplained = await compare(seen, round, at, isExplained)
      }
      const textsBefore = joinTextsBefore(pathTo(chat.tree(), node.parent))
      const told = { ...kept, rounds: [...kept.rounds, ...rounds], textsBefore }
      // A client cannot send back anything of an empty answer.
      const truth = node.items.length === 0 ? NO_ANSWER : told
      truths.set(node.id, { ...truth, isContinued: kept !== NO_ANSWER })
    },
  }
}

/**
 * Notes about reasoning for another upstream or invalid reasoning, and about an answer with two candidates.
 */
function saysWhy(note: string): boolean {
  return /^dropped (reasoning-|turn-ambiguous|marker-doubted)/.test(note)
}

/** Drops the gateway's request to continue, which it adds for models that cannot continue their own text. */
function withoutPrompting(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !line.startsWith('user: Continue exactly where'))
}

/** Returns the questions of a request, and the text of the answer after the latest one. */
function questionsAndText(messages: readonly ChatMessage[]) {
  const words = messages
    .slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => textIn(content))
  const users = messages.filter(({ role }) => role === 'user')
  return { users, words: words.join(''), isMarked: markersIn(words.at(-1) ?? '').length > 0 }
}

/** Returns the notes of a dry run of the request. */
async function loadNotes(account: Account, { body, place }: Round): Promise<readonly string[]> {
  const api = account.connection === 'chat' ? 'chat' : 'responses'
  const response = await fetch(`${account.url}/v1/context/explain`, {
    method: 'POST',
    headers: [...buildHeaders(account, place)].map(([name, value]): [string, string] => [
      name,
      value,
    ]),
    body: JSON.stringify({ ...body, api }),
  })
  const { notes = [] } = (await response.json()) as {
    readonly notes?: readonly { readonly did: string; readonly why: string }[]
  }
  return notes.map(({ did, why }) => `${did} ${why}`)
}
