/**
 * Builds the function calls of an answer. Each call is complete in one part. Of several parallel
 * calls, only the first has a signature (https://ai.google.dev/gemini-api/docs/thought-signatures).
 * The last call stays open, and so do all calls while none of them has a signature, because the
 * signature may follow.
 *
 * The id of a call is the upstream's, if it sends one. Otherwise it is derived from the answer's
 * id, e.g. `call_<answer id>_0`. So ids differ between answers, and decoding an answer again gives
 * the same ids.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { ToolCall } from '../../../core/item.ts'
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import type { OriginalTool } from '../../response/map-encoded-tool-names.ts'
import type { GeminiFunctionCall } from '../api-types.ts'

export interface ToolCallsBuilder {
  /** Sets the id of the answer, from which call ids are derived. */
  readonly setAnswerId: (answerId: string) => void
  readonly add: (call: GeminiFunctionCall, signature: string | null, index: number) => void
  readonly areOpen: () => boolean
  /** Stores a signature from an empty part after the calls. */
  readonly addLateSignature: (signature: string) => void
  readonly end: () => void
}

interface OpenCall {
  readonly index: number
  readonly call: ToolCall
  readonly native: { id?: string; thoughtSignature?: string; after?: string[] }
}

export function createToolCallsBuilder(
  emit: (event: StreamEvent) => void,
  toolNames: ReadonlyMap<string, OriginalTool>,
): ToolCallsBuilder {
  const ids = new Set<string>()
  let answerId = ''
  let openCalls: OpenCall[] = []
  let isSigned = false

  const end = (): void => {
    for (const { index, call, native } of openCalls) {
      emit({ type: 'item-ended', index, item: { ...call, native: { gemini: native } } })
    }
    openCalls = []
  }

  return {
    setAnswerId(id) {
      answerId = id
    },
    add({ id: idField, name, args }, signature, index) {
      if (openCalls.length === 0) isSigned = signature !== null
      else if (isSigned) end()
      const upstreamId = typeof idField === 'string' && idField !== '' ? idField : null
      const isUsable = upstreamId !== null && !ids.has(upstreamId)
      const id = isUsable ? upstreamId : `call_${answerId}_${ids.size}`
      ids.add(id)
      const input = isObject(args) ? args : {}
      const { startedCall, text, completeCall } = createCall(id, toolNames.get(name), name, input)
      emit({ type: 'item-started', index, item: startedCall })
      emit({ type: 'arguments-delta', index, text })
      openCalls.push({
        index,
        call: completeCall,
        native: {
          ...(upstreamId === null ? {} : { id: upstreamId }),
          ...(signature === null ? {} : { thoughtSignature: signature }),
        },
      })
    },
    areOpen: () => openCalls.length > 0,
    addLateSignature(signature) {
      const [first] = openCalls
      const last = openCalls.at(-1)
      if (first === undefined || last === undefined) return
      if (isSigned) (last.native.after ??= []).push(signature)
      else first.native.thoughtSignature = signature
      isSigned = true
    },
    end,
  }
}

interface CallStates {
  readonly startedCall: ToolCall
  readonly text: string
  readonly completeCall: ToolCall
}

function createCall(
  call_id: string,
  original: OriginalTool | undefined,
  encodedName: string,
  args: JsonObject,
): CallStates {
  const name = original?.name ?? encodedName
  const json = JSON.stringify(args)
  if (original?.isCustom === true) {
    const startedCall = { type: 'custom_tool_call', call_id, name, input: '' } as const
    const input = typeof args['input'] === 'string' ? args['input'] : json
    return { startedCall, text: input, completeCall: { ...startedCall, input } }
  }
  const startedCall = { type: 'function_call', call_id, name, arguments: '' } as const
  return { startedCall, text: json, completeCall: { ...startedCall, arguments: json } }
}
