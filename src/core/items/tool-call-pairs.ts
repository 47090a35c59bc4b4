/**
 * Pairs tool calls with their outputs, for every kind of tool that a client runs. Items of
 * provider-hosted tools, e.g. a web search, contain their own result and are not paired.
 */
import type { Item } from '../item.ts'
import type { JsonObject } from '../json/json.ts'

export interface ToolCallIdentity {
  /** E.g. `function` or `shell`; the same for a call and its output. */
  readonly toolKind: string
  /** Empty if the call id is missing, or if a call has no tool name, which every provider requires. */
  readonly callId: string
  readonly side: 'call' | 'output'
}

/** Returns the data by which a call and its output are paired; null for any other item. */
export function readToolCallIdentity(item: Item): ToolCallIdentity | null {
  switch (item.type) {
    case 'function_call':
      return { toolKind: 'function', callId: item.name === '' ? '' : item.call_id, side: 'call' }
    case 'function_call_output':
      return { toolKind: 'function', callId: item.call_id, side: 'output' }
    case 'custom_tool_call':
      return { toolKind: 'custom', callId: item.name === '' ? '' : item.call_id, side: 'call' }
    case 'custom_tool_call_output':
      return { toolKind: 'custom', callId: item.call_id, side: 'output' }
    case 'opaque':
      return OPAQUE_READERS.get(item.raw['type'])?.(item.raw) ?? null
    case 'message':
    case 'reasoning':
      return null
  }
}

/** True for the output of any kind of tool, e.g. also a `shell_call_output`, which is an opaque item. */
export function isToolCallOutput(item: Item): boolean {
  return readToolCallIdentity(item)?.side === 'output'
}

type IdentityReader = (raw: JsonObject) => ToolCallIdentity | null

const OPAQUE_READERS: ReadonlyMap<unknown, IdentityReader> = new Map<string, IdentityReader>([
  ['computer_call', createReader('computer', 'call', 'call_id')],
  ['computer_call_output', createReader('computer', 'output', 'call_id')],
  ['local_shell_call', createReader('local_shell', 'call', 'call_id')],
  // OpenAI's published type has no `call_id`; the output's `id` is the call's id.
  ['local_shell_call_output', createReader('local_shell', 'output', 'call_id', 'id')],
  ['shell_call', createReader('shell', 'call', 'call_id')],
  ['shell_call_output', createReader('shell', 'output', 'call_id')],
  ['apply_patch_call', createReader('apply_patch', 'call', 'call_id')],
  ['apply_patch_call_output', createReader('apply_patch', 'output', 'call_id')],
  ['mcp_approval_request', createReader('mcp_approval', 'call', 'id')],
  ['mcp_approval_response', createReader('mcp_approval', 'output', 'approval_request_id')],
  ['tool_search_call', ifClientRuns(createReader('tool_search', 'call', 'call_id'))],
  ['tool_search_output', ifClientRuns(createReader('tool_search', 'output', 'call_id'))],
])

function createReader(
  toolKind: string,
  side: ToolCallIdentity['side'],
  field: string,
  fallback = field,
): IdentityReader {
  return (raw) => {
    const callId = raw[field] ?? raw[fallback]
    return { toolKind, callId: typeof callId === 'string' ? callId : '', side }
  }
}

/** Returns a reader that ignores tool searches of a provider: only those that the client runs have a `call_id`. */
function ifClientRuns(read: IdentityReader): IdentityReader {
  return (raw) => (typeof raw['call_id'] === 'string' ? read(raw) : null)
}

/** The value for an item without a partner in the result of `findToolCallPairs`. */
export const UNPAIRED = -1

/**
 * Returns for each call the index of its output, for each output the index of its call, and `UNPAIRED`
 * for every other item.
 *
 * Call ids may repeat, because some providers count calls from 0 in every answer. Parallel calls with
 * the same id get their outputs in order. A call after a message or an output starts a new batch, and
 * earlier calls with the same id then stay unpaired: they never get an output of a later turn.
 */
export function findToolCallPairs(items: readonly Item[]): Int32Array {
  const partners = new Int32Array(items.length).fill(UNPAIRED)
  const waitingCalls = new Map<string, WaitingCalls>()
  let batch = 0
  for (const [index, item] of items.entries()) {
    if (item.type === 'message') batch += 1
    const identity = readToolCallIdentity(item)
    if (identity === null || identity.callId === '') continue
    const key = `${identity.toolKind} ${identity.callId}`
    const waiting = waitingCalls.get(key)
    if (identity.side === 'call') {
      if (waiting?.batch === batch) waiting.calls.push(index)
      else waitingCalls.set(key, { batch, calls: [index], answeredCount: 0 })
      continue
    }
    const call = waiting?.calls[waiting.answeredCount]
    if (waiting === undefined || call === undefined) continue
    waiting.answeredCount += 1
    partners[index] = call
    partners[call] = index
    batch += 1
  }
  return partners
}

/** Parallel calls with the same tool kind and call id. */
interface WaitingCalls {
  readonly batch: number
  readonly calls: number[]
  answeredCount: number
}
