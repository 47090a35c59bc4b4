/**
 * Reads the lines of an answer as Open WebUI 0.10 does. Pure: lines in, stored items out. What is kept
 * of an answer depends on how it ended: by itself, by the user's Stop, or by a line that was too long.
 */
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { rewrittenArguments } from './python-json.ts'
import { readChunk, type Draft } from './read-chunk.ts'
import { readResponseEvent, type ToldItems } from './read-response-event.ts'
import type { StoredItem } from './stored-item.ts'

/** A longer line kills the turn: its HTTP library reads no further. */
export const LONGEST_LINE_BYTES = 131_072

export interface Answer {
  readonly items: readonly StoredItem[]
  /** Words of the error that is shown under the answer. */
  readonly error: string | null
  /** Added up over everything that says some. */
  readonly usage: Readonly<Record<string, number>>
  /** Of a response, by which the stateful connection goes on. */
  readonly responseId: string | null
}

export interface AnswerReader {
  /** Resolves to `false` when nothing more will be read. */
  readonly line: (line: string) => boolean
  readonly ended: () => Answer
  readonly stopped: () => Answer
  /** What there would be if it ended now, for somebody who watches. */
  readonly items: () => readonly StoredItem[]
}

/** `kept` is what the message holds already: of earlier rounds, or of what is being continued. */
export function answerReader(kept: readonly StoredItem[]): AnswerReader {
  const draft: Draft = { items: [...kept], calls: new Map() }
  let told: ToldItems = []
  let rest: Omit<Answer, 'items'> = { error: null, usage: {}, responseId: null }
  let isAborted = false

  const items = (): readonly StoredItem[] => [
    ...draft.items,
    ...told.filter((item) => item !== undefined),
  ]
  const read = (json: JsonObject): void => {
    const { type, choices, error, usage } = json
    if (typeof type === 'string' && type.startsWith('response.')) {
      told = readResponseEvent(json, told)
      const response = isObject(json['response']) ? json['response'] : {}
      if (typeof response['id'] === 'string') rest = { ...rest, responseId: response['id'] }
      return
    }
    if (isObject(usage)) rest = { ...rest, usage: added(rest.usage, usage) }
    const [choice] = Array.isArray(choices) ? (choices as readonly unknown[]) : []
    if (choice === undefined) {
      if (error !== undefined && error !== null) rest = { ...rest, error: wordsOf(error) }
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
      const json = line.startsWith('data:') ? parsed(line.slice('data:'.length)) : null
      if (json !== null) read(json)
      return true
    },
    ended() {
      if (isAborted) return { ...rest, items: [], error: 'Chunk too big' }
      return { ...rest, items: [...trimmed(items()), ...callsOf(draft)] }
    },
    stopped: () => ({ ...rest, items: items() }),
    items,
  }
}

/** Only the very last text loses the blanks around it. */
function trimmed(items: readonly StoredItem[]): readonly StoredItem[] {
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

function added(
  known: Readonly<Record<string, number>>,
  told: JsonObject,
): Readonly<Record<string, number>> {
  const numbers = Object.entries(told).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  )
  return { ...known, ...Object.fromEntries(numbers.map(([k, n]) => [k, (known[k] ?? 0) + n])) }
}

/** As a person is shown an error, of a chunk as of a body. */
export function wordsOf(error: unknown): string {
  if (typeof error === 'string') return error
  const message = isObject(error) ? error['message'] : undefined
  return typeof message === 'string' ? message : JSON.stringify(error)
}

function parsed(text: string): JsonObject | null {
  try {
    const json: unknown = JSON.parse(text)
    return isObject(json) ? json : null
  } catch {
    return null
  }
}
