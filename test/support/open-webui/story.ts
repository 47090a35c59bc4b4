/**
 * A chat that is led and watched: what the model will say is given with each step, and every request
 * that this makes is held against the perfect memory and against what Open WebUI can bear.
 */
import type { JsonObject } from '../../../src/conversation/json.ts'
import { openChat, type Answered, type Asked, type Chat, type Opening } from './chat.ts'
import { pathTo } from './chat-tree.ts'
import type { Account, Round, Stop } from './client.ts'
import { headersOf } from './headers.ts'
import { linesOf } from './lines.ts'
import {
  difference,
  expectedOf,
  isAsSaid,
  saidBefore,
  expectedRounds,
  type Difference,
  type Truth,
} from './oracle.ts'
import { textIn } from '../services/service.ts'
import { nextNumber, scriptOf, type Planned } from './script.ts'
import type { ScriptedUpstream } from './scripted-upstream.ts'
import type { ChatMessage } from './to-messages.ts'

/** A request that was not what a perfect memory would have sent, and what the gateway says to that. */
export interface Gap extends Difference {
  readonly step: string
  readonly notes: readonly string[]
}

export interface Story {
  readonly chat: Chat
  readonly account: Account
  readonly gaps: readonly Gap[]
  /** Where only reasoning is missing, and the notes say that some was left out. */
  readonly explained: readonly Gap[]
  /** What Open WebUI, or the upstream, could not bear. */
  readonly faults: readonly string[]
  /** All of it in one list: of a perfect story there is nothing in it. */
  readonly trouble: () => readonly (Gap | string)[]
  /** Every request for an answer, as its upstream got it. */
  readonly received: readonly JsonObject[]
  readonly ask: (script: string, asked?: Omit<Asked, 'stop'>) => Promise<Answered>
  readonly askAll: (scripts: Readonly<Record<string, string>>) => Promise<readonly Answered[]>
  readonly regenerate: (script: string, suggestion?: string) => Promise<Answered>
  readonly editQuestion: (script: string) => Promise<Answered>
  readonly editAnswer: (edit: (text: string) => string) => void
  readonly goOn: (script: string) => Promise<Answered>
  readonly clone: (more?: Partial<Account>) => Story
}

export interface Beginning extends Omit<Opening, 'tree' | 'head'> {
  readonly upstream: ScriptedUpstream
  /** Whether the client brings them back; by default all do that get them. */
  readonly hasMarkers?: boolean
}

/** `known` is what was said before, in a chat that this is a copy of. */
export function tellStory(
  beginning: Beginning,
  chat: Chat = openChat(beginning),
  known: ReadonlyMap<string, Truth> = new Map(),
): Story {
  const { upstream, account } = beginning
  const hasMarkers = beginning.hasMarkers ?? account.profile !== 'bare'
  const truths = new Map(known)
  const gaps: Gap[] = []
  const explained: Gap[] = []
  const faults: string[] = []
  const all: JsonObject[] = []
  const truthOf = (id: string): Truth => truths.get(id) ?? NOTHING

  /** `kept` is what the model had said before of the answer that it went on with. */
  const watch = async (
    step: string,
    { node, rounds: sent }: Answered,
    rounds: readonly Planned[],
    kept: Truth = NOTHING,
  ) => {
    for (const [at, round] of sent.entries()) {
      faults.push(...round.faults.map((fault) => `${step}: ${fault}`))
      const received = rounds[at]?.received ?? null
      if (received === null) {
        faults.push(`${step}: round ${at} did not reach the model`)
        continue
      }
      all.push(received)
      const path = pathTo(chat.tree(), node.parent)
      const { users, words } = saidIn(round.messages)
      const before = [...kept.rounds, ...rounds.slice(0, at)]
      const own = expectedRounds(before, kept.isEdited ? words : null)
      // Once it went on, its words are no single turn's any more.
      const isFindable = kept === NOTHING || hasMarkers || (at === 0 && isAsSaid(kept, path))
      const wanted = [...expectedOf(path, truthOf, users, hasMarkers), { ...own, isFindable }]
      const lines = withoutPrompting(linesOf(received))
      const gap = difference(wanted, lines)
      if (gap === null) continue
      const notes = await notesOn(account, round)
      const losses = wanted.map((one) => ({ ...one, isFindable: false }))
      const isExplained = notes.some(saysWhy) && difference(losses, lines) === null
      const list = isExplained ? explained : gaps
      list.push({ step, ...gap, notes })
    }
    const asked = chat.tree().get(node.parent)
    const refusals = asked?.kind === 'question' ? upstream.refusalsOf(asked.text) : []
    faults.push(...refusals.map((why) => `${step}: refused with ${why}`))
    const behind = saidBefore(pathTo(chat.tree(), node.parent))
    const isGone = node.items.length === 0
    const told = { ...kept, rounds: [...kept.rounds, ...rounds], behind }
    truths.set(node.id, { ...(isGone ? NOTHING : told), isContinued: kept !== NOTHING })
  }
  const step = async (
    name: string,
    question: string,
    script: string,
    run: (stop: Stop) => Promise<Answered>,
    kept?: Truth,
  ): Promise<Answered> => {
    const rounds = scriptOf(script)
    upstream.plan(question, name === 'ask' ? beginning.model : modelNow(beginning, chat), rounds)
    const stalls = rounds.find(({ stall }) => stall !== null)
    const answered = await run((shown) => (stalls === undefined ? NEVER : heard(stalls, shown)))
    if (stalls !== undefined && stalls.received !== null) {
      await stalls.givenUp.promise
      // What was left has to be written down before anybody asks again.
      await pause(STORING_MS)
    }
    upstream.unplan(question)
    await watch(`${name} ${script}`, answered, rounds, kept)
    return answered
  }
  const question = (): string => {
    const node = chat.tree().get(pathTo(chat.tree(), chat.head()).at(-2)?.id ?? '')
    return node?.kind === 'question' ? node.text : ''
  }

  return {
    chat,
    account,
    gaps,
    explained,
    faults,
    trouble: () => [...gaps, ...explained, ...faults],
    received: all,
    ask(script, asked = {}) {
      const text = newQuestion()
      return step('ask', text, script, (stop) => chat.ask(text, { ...asked, stop }))
    },
    async askAll(scripts) {
      const text = newQuestion()
      const planned = Object.entries(scripts).map(([model, script]) => ({
        model,
        rounds: scriptOf(script),
      }))
      for (const { model, rounds } of planned) upstream.plan(text, model, rounds)
      const answers = await chat.askAll(Object.keys(scripts), text)
      for (const answered of answers) {
        const { model } = answered.node
        const rounds = planned.find((plan) => plan.model === model)?.rounds ?? []
        await watch(`ask ${model}`, answered, rounds)
      }
      return answers
    },
    regenerate: (script, suggestion) =>
      step('regenerate', question(), script, (stop) => chat.regenerate(suggestion, stop)),
    editQuestion(script) {
      const text = newQuestion()
      return step('edit question', text, script, (stop) => chat.editQuestion(text, stop))
    },
    editAnswer(edit) {
      chat.editAnswer(edit)
      const id = chat.head() ?? ''
      truths.set(id, { ...truthOf(id), isEdited: true })
    },
    goOn(script) {
      const node = chat.tree().get(chat.head() ?? '')
      const isEmpty = node?.kind !== 'answer' || node.items.length === 0
      const kept = isEmpty ? NOTHING : truthOf(node.id)
      return step('go on', question(), script, (stop) => chat.goOn(stop), kept)
    },
    clone: (more = {}) => {
      const copied = { ...beginning, account: { ...account, ...more } }
      return tellStory(copied, chat.clone(copied.account), truths)
    },
  }
}

/** Reasoning that goes to another upstream, or would be refused; an answer that could be one of two. */
function saysWhy(note: string): boolean {
  return /^dropped (reasoning-|turn-ambiguous)/.test(note)
}

const NOTHING: Truth = { rounds: [], isEdited: false, isContinued: false, behind: '' }

const NEVER = new Promise<void>(() => undefined)
const STORING_MS = 25
const HEARING_MS = 10

/** The user has heard what there is to hear before Stop is pressed; of a call nothing is heard. */
async function heard(planned: Planned, shown: Parameters<Stop>[0]): Promise<void> {
  await planned.stalled.promise
  const isHeard = (): boolean =>
    shown().some((item) => 'text' in item && item.text.includes(planned.toldPart.trim()))
  const isSpoken = planned.beats[planned.stall ?? 0]?.type !== 'call'
  for (let waits = 0; waits < 100; waits += 1) {
    await pause(HEARING_MS)
    if (!isSpoken || isHeard()) return
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

function newQuestion(): string {
  return `Q${nextNumber()} what of the fog, ‘really’?`
}

function modelNow({ model }: Beginning, chat: Chat): string {
  const node = chat.tree().get(chat.head() ?? '')
  return node?.kind === 'answer' ? node.model : model
}

/** Where a model cannot go on with its own words, the gateway asks it to. */
function withoutPrompting(lines: readonly string[]): readonly string[] {
  return lines.at(-1)?.startsWith('user: Continue exactly where') === true
    ? lines.slice(0, -1)
    : lines
}

/** The questions of a request, and the words of the answer that stands behind the newest of them. */
function saidIn(messages: readonly ChatMessage[]) {
  const words = messages
    .slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => textIn(content))
  return { users: messages.filter(({ role }) => role === 'user'), words: words.join('') }
}

/** What the gateway says of a request, code by code. */
export async function notesOn(
  account: Account,
  { body, place }: Round,
): Promise<readonly string[]> {
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
