/**
 * Tool calls while they are being written. Which call a fragment belongs to is the one thing that
 * every service says differently: by index, by id, by both in every fragment, or by neither.
 */
import type { StreamEvent } from '../../conversation/event.ts'
import type { CustomCall, FunctionCall } from '../../conversation/item.ts'
import { isObject, type Json, type JsonObject } from '../../conversation/json.ts'
import { shortHash } from './short-hash.ts'
import { textIn, type CallFragment } from './wire.ts'
import { unwrapped } from './wrapped-call.ts'

interface OpenCall {
  /** The service's own number and id, as far as it gave any. */
  readonly number: number | null
  readonly givenId: string
  /** Place among the items of the answer; `null` until the name is known. */
  index: number | null
  callId: string
  name: string
  kind: 'function' | 'custom' | 'wrapped'
  text: string
  entry: JsonObject | undefined
}

export interface OpenCalls {
  readonly fragment: (fragment: CallFragment) => void
  readonly count: () => number
  /** Whether some call never got a name, so that nobody could answer it. */
  readonly hasNameless: () => boolean
  /**
   * What broke off is marked as incomplete. `native` is about the whole message, and stands with
   * its first call.
   */
  readonly end: (isWhole: boolean, native: JsonObject | undefined) => void
}

export interface CallsOptions {
  readonly emit: (event: StreamEvent) => void
  /** The next free place among the items. */
  readonly nextIndex: () => number
  /** Something of this answer that ids can be made from, where the service gives none. */
  readonly seed: () => string
  /** Names of custom tools that went out disguised as functions. */
  readonly wrapped: ReadonlySet<string>
}

export function openCalls({ emit, nextIndex, seed, wrapped }: CallsOptions): OpenCalls {
  const calls: OpenCall[] = []
  const taken = new Set<string>()

  const callIdFor = (givenId: string): string => {
    let id = givenId
    while (id === '' || taken.has(id)) id = `call_${shortHash(`${seed()} ${taken.size} ${id}`)}`
    taken.add(id)
    return id
  }
  const added = (number: number | null, givenId: string): OpenCall => {
    const call: OpenCall = {
      number,
      givenId,
      index: null,
      callId: '',
      name: '',
      kind: 'function',
      text: '',
      entry: undefined,
    }
    calls.push(call)
    return call
  }
  const name = (call: OpenCall, given: string, isCustom: boolean): void => {
    call.name = given
    call.kind = isCustom ? 'custom' : wrapped.has(given) ? 'wrapped' : 'function'
    call.callId = callIdFor(call.givenId)
    call.index = nextIndex()
    emit({ type: 'item-started', index: call.index, item: itemOf(call, '') })
    if (call.text !== '') say(call, call.text)
  }
  /** The input of a disguised call is known only when its JSON is whole. */
  const say = (call: OpenCall, text: string): void => {
    if (call.index === null || call.kind === 'wrapped') return
    emit({ type: 'arguments-delta', index: call.index, text })
  }

  return {
    fragment(fragment) {
      const { given, text, isCustom } = partsOf(fragment)
      const number = Number.isInteger(fragment.index) ? (fragment.index as number) : null
      const id = idIn(fragment.id)
      const call = owner(calls, { number, id, given, text }) ?? added(number, id)
      if (isObject(fragment.extra_content)) {
        call.entry = { ...call.entry, extra_content: fragment.extra_content }
      }
      call.text += text
      if (call.name !== '') {
        if (text !== '') say(call, text)
      } else if (given !== '') name(call, given, isCustom)
    },
    count: () => calls.length,
    hasNameless: () => calls.some((call) => call.index === null),
    end(isWhole, native) {
      for (const [place, call] of calls.entries()) {
        if (call.index === null) continue
        const text = call.kind === 'wrapped' ? unwrapped(call.text) : call.text
        if (call.kind === 'wrapped' && text !== '') {
          emit({ type: 'arguments-delta', index: call.index, text })
        }
        const chat = nativeOf(call, place === 0 ? native : undefined)
        const item = {
          ...itemOf(call, text),
          ...(isWhole ? {} : { status: 'incomplete' }),
          ...(chat === undefined ? {} : { native: { chat } }),
        }
        emit({ type: 'item-ended', index: call.index, item })
      }
    },
  }
}

interface Seen {
  readonly number: number | null
  readonly id: string
  readonly given: string
  readonly text: string
}

/** The call that a fragment goes on with; `undefined` if it begins a new one. */
function owner(calls: readonly OpenCall[], seen: Seen): OpenCall | undefined {
  const { number, id } = seen
  const call =
    number !== null
      ? calls.findLast((one) => one.number === number)
      : id !== ''
        ? calls.find((one) => one.givenId === id)
        : calls.at(-1)
  return call === undefined || beginsAnother(call, seen) ? undefined : call
}

/** Some services put every call under one number, or under none. */
function beginsAnother(call: OpenCall, { id, given, text }: Seen): boolean {
  // Others repeat the name in every fragment, so that a name alone says nothing.
  if (given === '' || call.name === '') return false
  if (id !== '' && call.givenId !== '') return id !== call.givenId
  return text.startsWith('{') && isWholeJson(call.text)
}

function isWholeJson(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}

function partsOf({ type, function: made, custom }: CallFragment) {
  const isCustom = isObject(custom) || (type === 'custom' && !isObject(made))
  const body: JsonObject = isObject(custom) ? custom : isObject(made) ? made : {}
  const text = isCustom ? body['input'] : body['arguments']
  return { given: textIn(body['name']), text: argumentsIn(text), isCustom }
}

/** Some servers send the arguments as the object they are. */
function argumentsIn(value: Json | undefined): string {
  return isObject(value) ? JSON.stringify(value) : textIn(value)
}

function idIn(value: Json | undefined): string {
  return typeof value === 'number' ? String(value) : textIn(value)
}

function itemOf({ callId, name, kind }: OpenCall, text: string): FunctionCall | CustomCall {
  return kind === 'function'
    ? { type: 'function_call', call_id: callId, name, arguments: text }
    : { type: 'custom_tool_call', call_id: callId, name, input: text }
}

function nativeOf({ entry }: OpenCall, message: JsonObject | undefined): JsonObject | undefined {
  if (entry === undefined) return message
  return { ...message, $entry: entry }
}
