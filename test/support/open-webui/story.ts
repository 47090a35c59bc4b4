/**
 * A chat that is led and watched: what the model will say is given with each step, and every request
 * that this makes is held against the perfect memory and against what Open WebUI can bear.
 */
import type { JsonObject } from '../../../src/core/json/json.ts'
import { openChat, type Answered, type Asked, type Chat, type Opening } from './chat.ts'
import { pathTo } from './chat-tree.ts'
import type { Account, Stop } from './client.ts'
import { endsMarked, type Truth } from './oracle.ts'
import { nextNumber, scriptOf, spokenBy, type Planned } from './script.ts'
import type { ScriptedUpstream } from './scripted-upstream.ts'
import { NOTHING, watcherOf, type Gap, type Watcher } from './watcher.ts'

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
  const { upstream, account, model } = beginning
  const hasMarkers = beginning.hasMarkers ?? account.profile !== 'bare'
  const watcher = watcherOf(chat, account, hasMarkers, known)
  const { gaps, explained, faults, received, truths, truthOf } = watcher
  const step = (next: Omit<Step, 'model'> & Partial<Step>): Promise<Answered> =>
    take({ model: modelIn(chat) ?? model, ...next }, upstream, watcher)

  return {
    chat,
    account,
    gaps,
    explained,
    faults,
    received,
    trouble: () => [...gaps, ...explained, ...faults],
    ask(script, asked = {}) {
      const question = newQuestion()
      const run = (stop: Stop) => chat.ask(question, { ...asked, stop })
      return step({ name: 'ask', question, script, model, run })
    },
    async askAll(scripts) {
      const question = newQuestion()
      const told = chat.askAll(Object.keys(scripts), question)
      // All at once, but each is planned before any request can have arrived.
      const steps = Object.entries(scripts).map(([by, script], at) => {
        const run = async () => (await told)[at] ?? Promise.reject(new Error(`No ${by}.`))
        return step({ name: `ask ${by}`, question, script, model: by, run })
      })
      return Promise.all(steps)
    },
    regenerate: (script, suggestion) =>
      step({
        name: 'regenerate',
        question: questionIn(chat),
        script,
        run: (stop) => chat.regenerate(suggestion, stop),
      }),
    editQuestion(script) {
      const question = newQuestion()
      const run = (stop: Stop) => chat.editQuestion(question, stop)
      return step({ name: 'edit question', question, script, run })
    },
    editAnswer(edit) {
      chat.editAnswer(edit)
      const id = chat.head() ?? ''
      const node = chat.tree().get(id)
      const truth = truthOf(id)
      const keepsMarker = truth.keepsMarker && node?.kind === 'answer' && endsMarked(node)
      truths.set(id, { ...truth, isEdited: true, keepsMarker })
    },
    goOn(script) {
      const node = chat.tree().get(chat.head() ?? '')
      const isEmpty = node?.kind !== 'answer' || node.items.length === 0
      const kept = isEmpty ? NOTHING : truthOf(node.id)
      return step({ name: 'go on', question: questionIn(chat), script, kept, run: chat.goOn })
    },
    clone(more = {}) {
      const copied = { ...beginning, account: { ...account, ...more } }
      return tellStory(copied, chat.clone(copied.account), truths)
    },
  }
}

interface Step {
  readonly name: string
  readonly question: string
  readonly script: string
  /** Who is going to answer. */
  readonly model: string
  readonly run: (stop: Stop) => Promise<Answered>
  readonly kept?: Truth
}

async function take(
  { name, question, script, model, run, kept }: Step,
  upstream: ScriptedUpstream,
  { watch, faults }: Watcher,
): Promise<Answered> {
  const step = `${name} ${script}`
  const rounds = scriptOf(spokenBy(model, script))
  upstream.plan(question, model, rounds)
  const stalls = rounds.find(({ stall }) => stall !== null)
  const answered = await run((shown) => (stalls === undefined ? NEVER : heard(stalls, shown)))
  if (stalls !== undefined && stalls.received !== null) {
    await stalls.givenUp.promise
    // What was left has to be written down before anybody asks again.
    await pause(STORING_MS)
  }
  upstream.unplan(question, model)
  const refusals = upstream.refusalsOf(question)
  faults.push(...refusals.map((why) => `${step}: refused with ${why}`))
  await watch({ step, answered, rounds, kept })
  return answered
}

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

/** Of the newest answer. */
function modelIn(chat: Chat): string | null {
  const node = chat.tree().get(chat.head() ?? '')
  return node?.kind === 'answer' ? node.model : null
}

function questionIn(chat: Chat): string {
  const question = pathTo(chat.tree(), chat.head()).at(-2)
  return question?.kind === 'question' ? question.text : ''
}
