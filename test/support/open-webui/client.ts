/**
 * Asks as Open WebUI does: one answer with its whole loop of tools, or one task. It knows nothing of
 * a chat; `chat.ts` does.
 */
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { answerReader, wordsOf, type Answer } from './answer-reader.ts'
import { headersOf, type Place, type Sender } from './headers.ts'
import { post } from './post.ts'
import { pythonJson } from './python-json.ts'
import { openCalls, shownText, type StoredItem } from './stored-item.ts'
import type { Task } from './tasks.ts'
import { toBody, toInput, type Connection } from './to-body.ts'
import { toMessages, type ChatMessage } from './to-messages.ts'
import { runTool, TOOLS } from './tools.ts'
import { MARKER, answerFaults } from './watch.ts'

export interface Account extends Sender {
  /** Of a gateway, without the `/v1`. */
  readonly url: string
  readonly connection: Connection
  /** What a connection to llama.cpp keeps, and no other. */
  readonly keepsReasoning: boolean
  readonly params: JsonObject
  /** A filter that an administrator put in front of what is sent. */
  readonly inlet: (messages: readonly ChatMessage[]) => readonly ChatMessage[]
}

export interface Wanted {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  /** What the answer goes on with; its messages follow the others. */
  readonly kept: readonly StoredItem[]
  readonly place: Place
  readonly stop?: Stop | undefined
}

/** Resolves when the user presses Stop, who sees what there is of the answer so far. */
export type Stop = (shown: () => readonly StoredItem[]) => Promise<unknown>

/** One request as it went out, and what came back. */
export interface Round {
  readonly place: Place
  /** The whole chat, of which a stateful connection sends the end only. */
  readonly messages: readonly ChatMessage[]
  readonly body: JsonObject
  readonly status: number
  readonly lines: readonly string[]
  readonly faults: readonly string[]
}

export interface Told {
  readonly items: readonly StoredItem[]
  readonly error: string | null
  readonly rounds: readonly Round[]
}

/** As often as a model may ask for tools in one answer. */
const MOST_ROUNDS = 256

export async function askFor(account: Account, wanted: Wanted): Promise<Told> {
  const rounds: Round[] = []
  let items = wanted.kept
  let before: { readonly id: string; readonly items: readonly StoredItem[] } | null = null
  while (rounds.length < MOST_ROUNDS) {
    const told = items.length === 0 ? [] : toMessages(items, account.keepsReasoning)
    const messages = account.inlet([...wanted.messages, ...told])
    const body = bodyOf(account, wanted.model, messages, before)
    // A filter may have put something where there is nothing, or taken a marker away that was all.
    const isTold =
      shownText(behindTools(items)).replaceAll(MARKER, '').trim() !== '' ||
      saidLast(messages) !== ''
    const isContinued = rounds.length === 0 && isTold
    const request = { body, messages, kept: items, isContinued }
    const { round, answer, isOver } = await sendRound(account, wanted, request)
    rounds.push(round)
    const { error, responseId } = answer
    // What was cut off by Stop is not run when the answer goes on.
    const news = newIn(answer, items)
    const outputs = (isOver ? [] : openCalls(news)).map(runTool)
    const added = [...news, ...outputs]
    items = [...answer.items, ...outputs]
    if (outputs.length === 0) return { items, error, rounds }
    const isStateful = account.connection === 'stateful' && responseId !== null
    before = isStateful ? { id: responseId, items: added } : null
  }
  return { items, error: null, rounds }
}

/** Where nothing was said since, it goes on with what its tools have said. */
function behindTools(items: readonly StoredItem[]): readonly StoredItem[] {
  return items.slice(items.findLastIndex(({ type }) => type === 'function_call_output') + 1)
}

function saidLast(messages: readonly ChatMessage[]): string {
  const { role, content } = messages.at(-1) ?? {}
  return role === 'assistant' && typeof content === 'string' ? content : ''
}

/** What came behind all that was kept, of which an empty text at the end gets lost. */
function newIn({ items }: Answer, kept: readonly StoredItem[]): readonly StoredItem[] {
  const last = kept.at(-1)
  const isLost = last?.type === 'message' && last.text.trim() === '' && !items.includes(last)
  return items.slice(isLost ? kept.length - 1 : kept.length)
}

/** The stateful connection leaves out what the last response knows, and repeats that response. */
function bodyOf(
  { connection, params, profile }: Account,
  model: string,
  messages: readonly ChatMessage[],
  before: { readonly id: string; readonly items: readonly StoredItem[] } | null,
): JsonObject {
  // An older one can be told apart only when it says who it is.
  const saysStrict = profile === 'bare'
  const asking = { model, stream: true, tools: TOOLS, params, saysStrict }
  const body = toBody(connection, { ...asking, messages })
  if (before === null) return body
  const input = toInput(toMessages(before.items))
  return { ...body, input, previous_response_id: before.id }
}

interface RoundRequest extends Pick<Round, 'body' | 'messages'> {
  readonly kept: readonly StoredItem[]
  readonly isContinued: boolean
}

async function sendRound(
  account: Account,
  { place, stop }: Wanted,
  { body, messages, kept, isContinued }: RoundRequest,
): Promise<{ readonly round: Round; readonly answer: Answer; readonly isOver: boolean }> {
  const reader = answerReader(kept)
  const lines: string[] = []
  const { status, text, ending } = await post({
    url: account.url + pathOf(account),
    headers: headersOf(account, place),
    body: pythonJson(body),
    stop: stop?.(reader.items),
    onLine(line) {
      lines.push(line)
      return reader.line(line)
    },
  })
  const isWhole = ending === 'ended' && status === 200
  const { connection, profile } = account
  const isKnown = profile !== 'bare'
  const watched = { lines, connection, isKnown, isContinued, isTask: false, isWhole }
  const round = { place, messages, body, status, lines, faults: answerFaults(watched) }
  const ended = reader.ended()
  if (ended.error === 'Chunk too big') return { round, answer: ended, isOver: true }
  if (ending === 'stopped') return { round, answer: reader.stopped(), isOver: true }
  // Of an answer that failed outright, or lost its connection, nothing is kept at all.
  if (!isWhole) {
    const error = text === '' ? 'Connection lost' : errorIn(text)
    return { round, answer: { ...ended, items: [], error }, isOver: true }
  }
  return { round, answer: ended, isOver: ended.error !== null }
}

export interface TaskTold {
  readonly text: string
  readonly round: Round
}

export async function runTask(
  account: Account,
  model: string,
  { prompt, params, stream }: Task,
  place: Place,
): Promise<TaskTold> {
  const messages = [{ role: 'user', content: prompt } as const]
  const { connection, profile } = account
  const body = toBody(connection, { model, messages, stream, tools: [], params })
  const reader = answerReader([])
  const lines: string[] = []
  const { status, text } = await post({
    url: account.url + pathOf(account),
    headers: headersOf(account, place),
    body: pythonJson(body),
    onLine(line) {
      lines.push(line)
      return reader.line(line)
    },
  })
  const told = stream ? textIn(reader.ended().items) : wholeText(text)
  const isKnown = profile !== 'bare'
  const watched = { lines, connection, isKnown, isContinued: false, isTask: true, isWhole: stream }
  return {
    text: told,
    round: { place, messages, body, status, lines, faults: answerFaults(watched) },
  }
}

function pathOf({ connection }: Account): string {
  return connection === 'chat' ? '/v1/chat/completions' : '/v1/responses'
}

function errorIn(text: string): string {
  try {
    const json: unknown = JSON.parse(text)
    return isObject(json) ? wordsOf(json['error'] ?? json) : text
  } catch {
    return text
  }
}

function textIn(items: readonly StoredItem[]): string {
  return items.map((item) => (item.type === 'message' ? item.text : '')).join('')
}

/** `choices[0].message.content`, or the texts of the output. */
function wholeText(text: string): string {
  const told = JSON.parse(text) as {
    readonly choices?: readonly { readonly message: { readonly content: string | null } }[]
    readonly output?: readonly { readonly content?: readonly { readonly text?: string }[] }[]
  }
  const parts = told.output?.flatMap(({ content = [] }) => content) ?? []
  return told.choices?.[0]?.message.content ?? parts.map((part) => part.text ?? '').join('')
}
