/**
 * Holds every request of a chat against the perfect memory, and every answer against what Open WebUI
 * can bear. It keeps the truth: for each answer all that the model said.
 */
import type { JsonObject } from '../../../src/core/json/json.ts'
import { textIn } from '../services/service.ts'
import type { Answered, Chat } from './chat.ts'
import { pathTo } from './chat-tree.ts'
import type { Account, Round } from './client.ts'
import { headersOf } from './headers.ts'
import { linesOf } from './lines.ts'
import {
  difference,
  expectedOf,
  expectedRounds,
  isAsSaid,
  saidBefore,
  type Difference,
  type Expected,
  type Truth,
} from './oracle.ts'
import type { Planned } from './script.ts'
import type { ChatMessage } from './to-messages.ts'
import { markersIn } from './watch.ts'

/** A request that was not what a perfect memory would have sent, and what the gateway says to that. */
export interface Gap extends Difference {
  readonly step: string
  readonly notes: readonly string[]
}

export interface Watcher {
  readonly gaps: Gap[]
  readonly explained: Gap[]
  readonly faults: string[]
  readonly received: JsonObject[]
  readonly truths: Map<string, Truth>
  readonly truthOf: (id: string) => Truth
  /** `kept` is what the model had said before of the answer that it went on with. */
  readonly watch: (seen: Seen) => Promise<void>
}

export interface Seen {
  readonly step: string
  readonly answered: Answered
  readonly rounds: readonly Planned[]
  readonly kept?: Truth | undefined
}

export const NOTHING: Truth = {
  rounds: [],
  isEdited: false,
  keepsMarker: true,
  isContinued: false,
  behind: '',
}

export function watcherOf(
  chat: Chat,
  account: Account,
  hasMarkers: boolean,
  known: ReadonlyMap<string, Truth>,
): Watcher {
  const truths = new Map(known)
  const [gaps, explained, faults, received]: [Gap[], Gap[], string[], JsonObject[]] = [
    [],
    [],
    [],
    [],
  ]
  const truthOf = (id: string): Truth => truths.get(id) ?? NOTHING

  const wantedFor = (
    { answered, rounds, kept = NOTHING }: Seen,
    at: number,
  ): readonly Expected[] => {
    const path = pathTo(chat.tree(), answered.node.parent)
    const { users, words, isMarked } = saidIn(answered.rounds[at]?.messages ?? [])
    const before = [...kept.rounds, ...rounds.slice(0, at)]
    const own = expectedRounds(before, kept.isEdited ? words : null)
    // Once it went on, its words are no single turn's any more.
    const isKnown = hasMarkers
      ? !kept.isEdited || (kept.keepsMarker && isMarked)
      : at === 0 && isAsSaid(kept, path)
    const isFindable = kept === NOTHING || isKnown
    return [...expectedOf(path, truthOf, users, hasMarkers), { ...own, isFindable }]
  }
  /** Resolves to whether the gateway says why something is missing, or said so of what this goes on from. */
  const compare = async (
    seen: Seen,
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
    const lines = withoutPrompting(linesOf(body))
    const wanted = wantedFor(seen, at)
    const gap = difference(wanted, lines)
    if (gap === null) return false
    const notes = await notesOn(account, round)
    const losses = wanted.map((one) => ({ ...one, isFindable: false }))
    // A response that is named is gone on from as it was made.
    const isSaid = notes.some(saysWhy) || (wasExplained && 'previous_response_id' in round.body)
    const isExplained = isSaid && difference(losses, lines) === null
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
      const { step, answered, rounds, kept = NOTHING } = seen
      const { node } = answered
      let isExplained = false
      for (const [at, round] of answered.rounds.entries()) {
        faults.push(...round.faults.map((fault) => `${step}: ${fault}`))
        isExplained = await compare(seen, round, at, isExplained)
      }
      const behind = saidBefore(pathTo(chat.tree(), node.parent))
      const told = { ...kept, rounds: [...kept.rounds, ...rounds], behind }
      // Of an answer that is empty there is nothing that a client could bring back.
      const truth = node.items.length === 0 ? NOTHING : told
      truths.set(node.id, { ...truth, isContinued: kept !== NOTHING })
    },
  }
}

/** Reasoning that goes to another upstream, or would be refused; an answer that could be one of two. */
function saysWhy(note: string): boolean {
  return /^dropped (reasoning-|turn-ambiguous|marker-doubted)/.test(note)
}

/** Where a model cannot go on with its own words, the gateway asks it to, and tells of it ever after. */
function withoutPrompting(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !line.startsWith('user: Continue exactly where'))
}

/** The questions of a request, and the words of the answer that stands behind the newest of them. */
function saidIn(messages: readonly ChatMessage[]) {
  const words = messages
    .slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => textIn(content))
  const users = messages.filter(({ role }) => role === 'user')
  return { users, words: words.join(''), isMarked: markersIn(words.at(-1) ?? '').length > 0 }
}

/** What the gateway says of a request, code by code. */
async function notesOn(account: Account, { body, place }: Round): Promise<readonly string[]> {
  const api = account.connection === 'chat' ? 'chat' : 'responses'
  const response = await fetch(`${account.url}/v1/context/explain`, {
    method: 'POST',
    headers: [...headersOf(account, place)].map(([name, value]): [string, string] => [name, value]),
    body: JSON.stringify({ ...body, api }),
  })
  const { notes = [] } = (await response.json()) as {
    readonly notes?: readonly { readonly did: string; readonly why: string }[]
  }
  return notes.map(({ did, why }) => `${did} ${why}`)
}
