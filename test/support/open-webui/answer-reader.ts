/**
 * Reads the lines of an answer as Open WebUI does: lines in, stored items out, no side effects. The
 * stored items depend on the end of the answer: its own end, the user's Stop, or a line that was too long.
 */
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { rewrittenArguments } from './python-json.ts'
import { readChunk, type Draft } from './read-chunk.ts'
import { toRawItem, toStoredItem } from './convert-stored-item.ts'
import {
  joinAtSeam,
  reduceResponseEvent,
  type Items,
  type OpenWebUiVersion,
} from './response-reducer.ts'
import type { StoredItem } from './stored-item.ts'

/** Open WebUI's HTTP library fails on a longer line, and the turn ends. */
export const LONGEST_LINE_BYTES = 131_072

export interface Answer {
  readonly items: readonly StoredItem[]
  /** The items that the answer added, even if a text of them now belongs to an earlier message. */
  readonly added: readonly StoredItem[]
  /** The error message under the answer. */
  readonly error: string | null
  /** The sum over all chunks with usage. */
  readonly usage: Readonly<Record<string, number>>
  /** The response's id, which a stateful connection continues. */
  readonly responseId: string | null
}

export interface AnswerReader {
  /** Returns false if no more lines will be read. */
  readonly line: (line: string) => boolean
  readonly ended: () => Answer
  readonly stopped: () => Answer
  /** Returns the items that would be stored if the answer ended now. */
  readonly items: () => readonly StoredItem[]
}

export interface ReaderOptions {
  readonly version?: OpenWebUiVersion
  /** True for the answer after "Continue Response" on a Responses connection. */
  readonly continuesResponse?: boolean
}

/** `kept` are the items that the message already has, from earlier rounds or of the continued answer. */
export function createAnswerReader(
  kept: readonly StoredItem[],
  { version = '0.10', continuesResponse = false }: ReaderOptions = {},
): AnswerReader {
  const draft: Draft = { items: continuesResponse ? [] : [...kept], calls: new Map() }
  const rawKept = continuesResponse ? kept.map(toRawItem) : []
  let told: Items = version === '0.10' ? rawKept : []
  let rest: Omit<Answer, 'items' | 'added'> = { error: null, usage: {}, responseId: null }
  let isAborted = false

  const items = (): readonly StoredItem[] => {
    const all = version === '0.10' ? told : joinAtSeam(rawKept, told)
    return [...draft.items, ...(continuesResponse ? all : told).map(toStoredItem)]
  }
  /** Returns the items after the kept ones. An empty text at the end of the kept ones is lost. */
  const addedOf = (all: readonly StoredItem[]): readonly StoredItem[] => {
    if (continuesResponse && version !== '0.10') return told.map(toStoredItem)
    const last = kept.at(-1)
    const isEmpty = last?.type === 'message' && last.text.trim() === ''
    const isLost = isEmpty && !all.some((item) => item === last)
    return all.slice(isLost ? kept.length - 1 : kept.length)
  }
  const build = (all: readonly StoredItem[]): Answer => ({
    ...rest,
    items: all,
    added: addedOf(all),
  })
  const read = (json: JsonObject): void => {
    const { type, choices, error, usage } = json
    if (typeof type === 'string' && type.startsWith('response.')) {
      told = reduceResponseEvent(version, json, told)
      const response = isObject(json['response']) ? json['response'] : {}
      if (typeof response['id'] === 'string') rest = { ...rest, responseId: response['id'] }
      return
    }
    if (isObject(usage)) rest = { ...rest, usage: addUsage(rest.usage, usage) }
    const [choice] = Array.isArray(choices) ? (choices as readonly unknown[]) : []
    if (choice === undefined) {
      if (error !== undefined && error !== null) rest = { ...rest, error: errorMessageOf(error) }
      return
    }
    const delta = isObject(choice) ? choice['delta'] : null
    if (isObject(delta)) readChunk(delta, draft)
  }

  return {
    line(line) {
      if (Buffer.byteLength(line) > LONGEST_LINE_BYTES) {
        isAborted = true
        return false
      }
      const json = line.startsWith('data:') ? parseObject(line.slice('data:'.length)) : null
      if (json !== null) read(json)
      return true
    },
    ended() {
      if (isAborted) return { ...rest, items: [], added: [], error: 'Chunk too big' }
      const isTrimmed = version === '0.10' || !continuesResponse
      return build([...(isTrimmed ? trimLastText(items()) : items()), ...callsOf(draft)])
    },
    stopped: () => build(items()),
    items,
  }
}

/** Trims only the last text. */
function trimLastText(items: readonly StoredItem[]): readonly StoredItem[] {
  const last = items.at(-1)
  if (last?.type !== 'message') return items
  const text = last.text.trim()
  return text === '' ? items.slice(0, -1) : [...items.slice(0, -1), { ...last, text }]
}

function callsOf({ calls }: Draft): readonly StoredItem[] {
  return [...calls.values()].map(({ callId, name, args }) => ({
    type: 'function_call',
    callId,
    name,
    args: rewrittenArguments(args),
  }))
}

function addUsage(
  known: Readonly<Record<string, number>>,
  told: JsonObject,
): Readonly<Record<string, number>> {
  const numbers = Object.entries(told).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  )
  return { ...known, ...Object.fromEntries(numbers.map(([k, n]) => [k, (known[k] ?? 0) + n])) }
}

/** Returns the message of an error in a chunk or a body. */
export function errorMessageOf(error: unknown): string {
  if (typeof error === 'string') return error
  const message = isObject(error) ? error['message'] : undefined
  return typeof message === 'string' ? message : JSON.stringify(error)
}

function parseObject(text: string): JsonObject | null {
  try {
    const json: unknown = JSON.parse(text)
    return isObject(json) ? json : null
  } catch {
    return null
  }
}
