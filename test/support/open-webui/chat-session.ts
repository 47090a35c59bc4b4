/**
 * A chat session under test: each action names the script of the answer, and every request is compared with
 * the oracle and every answer with the limits of Open WebUI.
 */
import type { JsonObject } from '../../../src/core/json/json.ts'
import {
  openChat,
  type ChatAnswer,
  type QuestionOptions,
  type Chat,
  type ChatOptions,
} from './chat.ts'
import { pathTo } from './chat-tree.ts'
import type { Account, Stop } from './client.ts'
import { hasMarkerInLastText, type AnswerRecord } from './oracle.ts'
import { pythonJson } from './python-json.ts'
import type { StoredItem } from './stored-item.ts'
import { nextNumber, parseScript, lettersForModel, type PlannedAnswer } from './script.ts'
import type { ScriptedUpstream } from './scripted-upstream.ts'
import { NO_ANSWER, createWatcher, type Gap, type Watcher } from './compare-with-oracle.ts'

export interface ChatSession {
  readonly chat: Chat
  readonly account: Account
  readonly gaps: readonly Gap[]
  /** Gaps in which only reasoning is missing, with a note about it. */
  readonly explained: readonly Gap[]
  /** Answers or requests that Open WebUI or the upstream would reject. */
  readonly faults: readonly string[]
  /** All gaps and faults; empty for a perfect session. */
  readonly problems: () => readonly (Gap | string)[]
  /** Every answer request as the upstream received it. */
  readonly received: readonly JsonObject[]
  readonly ask: (script: string, asked?: Omit<QuestionOptions, 'stop'>) => Promise<ChatAnswer>
  readonly askAll: (scripts: Readonly<Record<string, string>>) => Promise<readonly ChatAnswer[]>
  readonly regenerate: (script: string, suggestion?: string) => Promise<ChatAnswer>
  readonly editQuestion: (script: string) => Promise<ChatAnswer>
  readonly editAnswer: (edit: (text: string) => string) => void
  /** Deletes the last thought or call of the answer in the edit box, if it has one. */
  readonly deleteLast: (type: 'thought' | 'call') => void
  readonly continueAnswer: (script: string) => Promise<ChatAnswer>
  readonly clone: (more?: Partial<Account>) => ChatSession
}

export interface SessionOptions extends Omit<ChatOptions, 'tree' | 'head'> {
  readonly upstream: ScriptedUpstream
  /** True if the client sends markers back; by default every client that gets them. */
  readonly hasMarkers?: boolean
}

/** `known` are the answers of a chat that this one is a copy of. */
export function startSession(
  beginning: SessionOptions,
  chat: Chat = openChat(beginning),
  known: ReadonlyMap<string, AnswerRecord> = new Map(),
): ChatSession {
  const { upstream, account, model } = beginning
  const hasMarkers = beginning.hasMarkers ?? account.profile !== 'bare'
  const watcher = createWatcher(chat, account, hasMarkers, known)
  const { gaps, explained, faults, received, truths, truthOf } = watcher
  const step = (next: Omit<Step, 'model'> & Partial<Step>): Promise<ChatAnswer> =>
    runStep({ model: modelIn(chat) ?? model, ...next }, upstream, watcher)

  return {
    chat,
    account,
    gaps,
    explained,
    faults,
    received,
    problems: () => [...gaps, ...explained, ...faults],
    ask(script, asked = {}) {
      const question = newQuestion()
      const run = (stop: Stop) => chat.ask(question, { ...asked, stop })
      return step({ name: 'ask', question, script, model, run })
    },
    async askAll(scripts) {
      const question = newQuestion()
      const told = chat.askAll(Object.keys(scripts), question)
      // Plans all answers before the first request can arrive.
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
      const keepsMarker = truth.keepsMarker && node?.kind === 'answer' && hasMarkerInLastText(node)
      truths.set(id, { ...truth, isEdited: true, keepsMarker })
    },
    deleteLast(type) {
      const node = chat.tree().get(chat.head() ?? '')
      if (node?.kind !== 'answer' || node.items.length === 0) return
      const truth = truthOf(node.id)
      // Only calls with an output, and thoughts of complete rounds, are certain to be in the edit box.
      const at = truth.rounds.findLastIndex(
        ({ parts, stall }) => stall === null && parts.some((part) => part.type === type),
      )
      const round = truth.rounds[at]
      const part = round?.parts.findLast((one) => one.type === type)
      if (round === undefined || part === undefined) return
      const isPart = (item: StoredItem): boolean =>
        part.type === 'call'
          ? item.type === 'function_call' && item.args === pythonJson(part.input)
          : part.type === 'thought' && item.type === 'reasoning' && item.text === part.text
      if (!node.items.some(isPart)) return
      chat.deleteItems(isPart)
      const shorter = { ...round, parts: round.parts.filter((one) => one !== part) }
      const rounds = truth.rounds.with(at, shorter)
      truths.set(node.id, { ...truth, rounds, isShortened: true })
    },
    continueAnswer(script) {
      const node = chat.tree().get(chat.head() ?? '')
      const isEmpty = node?.kind !== 'answer' || node.items.length === 0
      const kept = isEmpty ? NO_ANSWER : truthOf(node.id)
      return step({
        name: 'continue',
        question: questionIn(chat),
        script,
        kept,
        run: chat.continueAnswer,
      })
    },
    clone(more = {}) {
      // The headers of a clone have new ids, so that only its texts, calls and references find the earlier answers.
      const isNamed = hasMarkers && account.profile !== 'full'
      const copied = { ...beginning, account: { ...account, ...more }, hasMarkers: isNamed }
      return startSession(copied, chat.clone(copied.account), truths)
    },
  }
}

interface Step {
  readonly name: string
  readonly question: string
  readonly script: string
  /** The model that will answer. */
  readonly model: string
  readonly run: (stop: Stop) => Promise<ChatAnswer>
  readonly kept?: AnswerRecord
}

async function runStep(
  { name, question, script, model, run, kept }: Step,
  upstream: ScriptedUpstream,
  { watch, faults }: Watcher,
): Promise<ChatAnswer> {
  const step = `${name} ${script}`
  const rounds = parseScript(lettersForModel(model, script))
  upstream.plan(question, model, rounds)
  const stalls = rounds.find(({ stall }) => stall !== null)
  const answered = await run((shown) =>
    stalls === undefined ? NEVER : untilClientHasText(stalls, shown),
  )
  if (stalls !== undefined && stalls.received !== null) {
    await stalls.givenUp.promise
    // The partial answer must be stored before the next request.
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

/** Waits until the client has all text before Stop; a call is not visible to it. */
async function untilClientHasText(
  planned: PlannedAnswer,
  shown: Parameters<Stop>[0],
): Promise<void> {
  await planned.stalled.promise
  const isHeard = (): boolean =>
    shown().some((item) => 'text' in item && item.text.includes(planned.sentText.trim()))
  const isSpoken = planned.parts[planned.stall ?? 0]?.type !== 'call'
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

/** Returns the model of the latest answer. */
function modelIn(chat: Chat): string | null {
  const node = chat.tree().get(chat.head() ?? '')
  return node?.kind === 'answer' ? node.model : null
}

function questionIn(chat: Chat): string {
  const question = pathTo(chat.tree(), chat.head()).at(-2)
  return question?.kind === 'question' ? question.text : ''
}
