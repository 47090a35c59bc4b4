/**
 * The function calls of an answer. Each comes whole; a batch of parallel ones carries one
 * signature, on the first (https://ai.google.dev/gemini-api/docs/thought-signatures). The latest
 * call stays open, and an unsigned batch altogether, because a late signature may still come.
 *
 * Ids are the upstream's own where it gives them, and else made of the answer's id, so that they
 * differ from answer to answer and are the same however often an answer is read.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { ToolCall } from '../../../core/item.ts'
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import type { OriginalTool } from '../tool-names.ts'
import type { GeminiFunctionCall } from '../api-types.ts'

export interface ToolCallsBuilder {
  /** Names the answer that the calls are part of. */
  readonly name: (answerId: string) => void
  readonly add: (call: GeminiFunctionCall, signature: string | null, index: number) => void
  readonly areOpen: () => boolean
  /** Takes a signature that came on an empty part behind the calls. */
  readonly sign: (signature: string) => void
  readonly end: () => void
}

interface OpenCall {
  readonly index: number
  readonly call: ToolCall
  readonly kept: { id?: string; thoughtSignature?: string; after?: string[] }
}

export function createToolCallsBuilder(
  tell: (event: StreamEvent) => void,
  names: ReadonlyMap<string, OriginalTool>,
): ToolCallsBuilder {
  const ids = new Set<string>()
  let answer = ''
  let open: OpenCall[] = []
  let isSigned = false

  const end = (): void => {
    for (const { index, call, kept } of open) {
      tell({ type: 'item-ended', index, item: { ...call, native: { gemini: kept } } })
    }
    open = []
  }

  return {
    name(answerId) {
      answer = answerId
    },
    add(wire, signature, index) {
      if (open.length === 0) isSigned = signature !== null
      else if (isSigned) end()
      const own = typeof wire.id === 'string' && wire.id !== '' ? wire.id : null
      const id = own !== null && !ids.has(own) ? own : `call_${answer}_${ids.size}`
      ids.add(id)
      const args = isObject(wire.args) ? wire.args : {}
      const { begun, text, whole } = callOf(id, names.get(wire.name), wire.name, args)
      tell({ type: 'item-started', index, item: begun })
      tell({ type: 'arguments-delta', index, text })
      open.push({
        index,
        call: whole,
        kept: {
          ...(own === null ? {} : { id: own }),
          ...(signature === null ? {} : { thoughtSignature: signature }),
        },
      })
    },
    areOpen: () => open.length > 0,
    sign(signature) {
      const [first] = open
      const last = open.at(-1)
      if (first === undefined || last === undefined) return
      if (isSigned) (last.kept.after ??= []).push(signature)
      else first.kept.thoughtSignature = signature
      isSigned = true
    },
    end,
  }
}

interface Call {
  readonly begun: ToolCall
  readonly text: string
  readonly whole: ToolCall
}

function callOf(
  call_id: string,
  known: OriginalTool | undefined,
  wireName: string,
  args: JsonObject,
): Call {
  const name = known?.name ?? wireName
  const json = JSON.stringify(args)
  if (known?.isCustom === true) {
    const begun = { type: 'custom_tool_call', call_id, name, input: '' } as const
    const input = typeof args['input'] === 'string' ? args['input'] : json
    return { begun, text: input, whole: { ...begun, input } }
  }
  const begun = { type: 'function_call', call_id, name, arguments: '' } as const
  return { begun, text: json, whole: { ...begun, arguments: json } }
}
