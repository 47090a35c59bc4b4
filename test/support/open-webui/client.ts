/**
 * Sends requests as Open WebUI does: one answer with all its tool rounds, or one task. It has no chat state;
 * `chat.ts` has.
 */
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { createAnswerReader, errorMessageOf, type Answer } from './answer-reader.ts'
import { buildHeaders, type ChatPosition, type Sender } from './headers.ts'
import { post } from './post.ts'
import { pythonJson } from './python-json.ts'
import type { OpenWebUiVersion } from './response-reducer.ts'
import { listOpenCalls, shownText, type StoredItem } from './stored-item.ts'
import type { Task } from './tasks.ts'
import { createRequestBody, toInput, type Connection } from './to-body.ts'
import { toMessages, type ChatMessage } from './to-messages.ts'
import { runTool, TOOLS } from './tools.ts'
import { MARKER, findFaultsInAnswer } from './check-answer.ts'

export interface Account extends Sender {
  /** The gateway's URL without `/v1`. */
  readonly url: string
  readonly connection: Connection
  /** Without it, 0.10. */
  readonly version?: OpenWebUiVersion
  /** Only connections to llama.cpp keep reasoning. */
  readonly keepsReasoning: boolean
  readonly params: JsonObject
  /** True until 0.11.0: what stands beside the reasoning of another model is sent, too. */
  readonly sendsDetailsOfOtherModels?: boolean
  /** True since 0.12.4: a suggestion follows the answer that it is to revise. The oracle does not expect that answer. */
  readonly sendsRevisedAnswer?: boolean
  /** A filter that an administrator installed for outgoing messages. */
  readonly inlet: (messages: readonly ChatMessage[]) => readonly ChatMessage[]
}

export interface AnswerRequest {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  /** The items of the answer to continue; their messages follow the others. */
  readonly kept: readonly StoredItem[]
  readonly place: ChatPosition
  readonly stop?: Stop | undefined
}

/** Resolves when the user presses Stop; gets the visible items so far. */
export type Stop = (shown: () => readonly StoredItem[]) => Promise<unknown>

/** One request with its response. */
export interface Round {
  readonly place: ChatPosition
  /** The complete chat; a stateful connection sends only its end. */
  readonly messages: readonly ChatMessage[]
  readonly body: JsonObject
  readonly status: number
  readonly lines: readonly string[]
  readonly faults: readonly string[]
}

export interface AnswerResult {
  readonly items: readonly StoredItem[]
  readonly error: string | null
  readonly rounds: readonly Round[]
}

/** Open WebUI's limit of tool rounds in one answer. */
const MAX_ROUNDS = 256

export async function requestAnswer(
  account: Account,
  wanted: AnswerRequest,
): Promise<AnswerResult> {
  const rounds: Round[] = []
  let items = wanted.kept
  let before: { readonly id: string; readonly items: readonly StoredItem[] } | null = null
  while (rounds.length < MAX_ROUNDS) {
    const told = items.length === 0 ? [] : toMessages(items, account.keepsReasoning)
    const messages = account.inlet([...wanted.messages, ...told])
    const body = bodyOf(account, wanted.model, messages, before)
    // A filter may have added text, or removed a marker that was the only text.
    const isTold =
      shownText(afterLastOutput(items)).replaceAll(MARKER, '').trim() !== '' ||
      lastAssistantText(messages) !== ''
    const isContinued = rounds.length === 0 && isTold
    const continuesResponse = rounds.length === 0 && items.length > 0 && isResponses(account)
    const request = { body, messages, kept: items, isContinued, continuesResponse }
    const { round, answer, isOver } = await sendRound(account, wanted, request)
    rounds.push(round)
    const { error, responseId } = answer
    // Calls that were cut off by Stop are not run when the answer is continued.
    const outputs = (isOver ? [] : listOpenCalls(answer.added)).map(runTool)
    const added = [...answer.added, ...outputs]
    items = [...answer.items, ...outputs]
    if (outputs.length === 0) return { items, error, rounds }
    const isStateful = account.connection === 'stateful' && responseId !== null
    before = isStateful ? { id: responseId, items: added } : null
  }
  return { items, error: null, rounds }
}

/** Returns the items after the last tool output. */
function afterLastOutput(items: readonly StoredItem[]): readonly StoredItem[] {
  return items.slice(items.findLastIndex(({ type }) => type === 'function_call_output') + 1)
}

function lastAssistantText(messages: readonly ChatMessage[]): string {
  const { role, content } = messages.at(-1) ?? {}
  return role === 'assistant' && typeof content === 'string' ? content : ''
}

/** A stateful connection sends only the items after the last response, and its id. */
function bodyOf(
  { connection, params, profile, version }: Account,
  model: string,
  messages: readonly ChatMessage[],
  before: { readonly id: string; readonly items: readonly StoredItem[] } | null,
): JsonObject {
  // Older versions differ, and can be recognized only by their headers.
  const saysStrict = profile === 'bare' || version === '0.12'
  const asking = { model, stream: true, tools: TOOLS, params, saysStrict }
  const body = createRequestBody(connection, { ...asking, messages })
  if (before === null) return body
  const input = toInput(toMessages(before.items))
  return { ...body, input, previous_response_id: before.id }
}

interface RoundRequest extends Pick<Round, 'body' | 'messages'> {
  readonly kept: readonly StoredItem[]
  readonly isContinued: boolean
  readonly continuesResponse: boolean
}

function isResponses({ connection }: Account): boolean {
  return connection !== 'chat'
}

async function sendRound(
  account: Account,
  { place, stop }: AnswerRequest,
  { body, messages, kept, isContinued, continuesResponse }: RoundRequest,
): Promise<{ readonly round: Round; readonly answer: Answer; readonly isOver: boolean }> {
  const reader = createAnswerReader(kept, {
    version: account.version ?? '0.10',
    continuesResponse,
  })
  const lines: string[] = []
  const { status, text, ending } = await post({
    url: account.url + pathOf(account),
    headers: buildHeaders(account, place),
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
  const round = { place, messages, body, status, lines, faults: findFaultsInAnswer(watched) }
  const ended = reader.ended()
  if (ended.error === 'Chunk too big') return { round, answer: ended, isOver: true }
  if (ending === 'stopped') return { round, answer: reader.stopped(), isOver: true }
  // Nothing is stored of an answer that failed or lost its connection.
  if (!isWhole) {
    const error = text === '' ? 'Connection lost' : errorIn(text)
    return { round, answer: { ...ended, items: [], added: [], error }, isOver: true }
  }
  return { round, answer: ended, isOver: ended.error !== null }
}

export interface TaskResult {
  readonly text: string
  readonly round: Round
}

export async function runTask(
  account: Account,
  model: string,
  { prompt, params, stream }: Task,
  place: ChatPosition,
): Promise<TaskResult> {
  const messages = [{ role: 'user', content: prompt } as const]
  const { connection, profile } = account
  const body = createRequestBody(connection, { model, messages, stream, tools: [], params })
  const reader = createAnswerReader([])
  const lines: string[] = []
  const { status, text } = await post({
    url: account.url + pathOf(account),
    headers: buildHeaders(account, place),
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
    round: { place, messages, body, status, lines, faults: findFaultsInAnswer(watched) },
  }
}

function pathOf({ connection }: Account): string {
  return connection === 'chat' ? '/v1/chat/completions' : '/v1/responses'
}

function errorIn(text: string): string {
  try {
    const json: unknown = JSON.parse(text)
    return isObject(json) ? errorMessageOf(json['error'] ?? json) : text
  } catch {
    return text
  }
}

function textIn(items: readonly StoredItem[]): string {
  return items.map((item) => (item.type === 'message' ? item.text : '')).join('')
}

/** Reads `choices[0].message.content`, or the texts of the output. */
function wholeText(text: string): string {
  const told = JSON.parse(text) as {
    readonly choices?: readonly { readonly message: { readonly content: string | null } }[]
    readonly output?: readonly { readonly content?: readonly { readonly text?: string }[] }[]
  }
  const parts = told.output?.flatMap(({ content = [] }) => content) ?? []
  return told.choices?.[0]?.message.content ?? parts.map((part) => part.text ?? '').join('')
}
