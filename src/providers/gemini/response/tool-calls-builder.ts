/**
 * Builds the function calls of an answer. Each call is complete in one part, but its signature may
 * come later, in an empty part. Therefore a call stays open after its part. Parallel calls share
 * one signature, so while none of them is signed, all of them stay open
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 *
 * If Gemini sends no call id, the id is derived from the id of the answer, e.g. `call_<answer
 * id>_0`, so that it differs between answers, and is the same if an answer is decoded again.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { ToolCall } from '../../../core/item.ts'
import { isObject } from '../../../core/json/json.ts'
import { type OriginalTool, createToolCall } from '../../response/map-encoded-tool-names.ts'
import type { GeminiFunctionCall } from '../api-types.ts'
import { unwrapCustomToolInput } from '../../wrap-custom-tool-input.ts'

export interface ToolCallsBuilder {
  /** Sets the id of the answer, from which call ids are derived. */
  readonly setAnswerId: (answerId: string) => void
  readonly add: (call: GeminiFunctionCall, signature: string | null, index: number) => void
  readonly hasOpenCalls: () => boolean
  /**
   * Stores a signature that Gemini sends in an empty part after the calls: as the signature of the
   * first open call or, if the calls are already signed, in `after` of the last one.
   */
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
      const tool = toolNames.get(name) ?? { name, isCustom: false }
      const json = JSON.stringify(isObject(args) ? args : {})
      const text = tool.isCustom ? unwrapCustomToolInput(json) : json
      emit({ type: 'item-started', index, item: createToolCall(id, tool, '') })
      emit({ type: 'arguments-delta', index, text })
      openCalls.push({
        index,
        call: createToolCall(id, tool, text),
        native: {
          ...(upstreamId === null ? {} : { id: upstreamId }),
          ...(signature === null ? {} : { thoughtSignature: signature }),
        },
      })
    },
    hasOpenCalls: () => openCalls.length > 0,
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
