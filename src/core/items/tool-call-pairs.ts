/**
 * Pairs tool calls with their outputs, for every kind of tool that a client runs. Provider-hosted
 * tools (web search, code interpreter, `mcp_call`, a tool search on the server) contain their own
 * result and are not calls in this sense.
 */
import type { Item } from '../item.ts'
import type { JsonObject } from '../json/json.ts'

export interface ToolCallEnd {
  /** A call and its output have the same family. */
  readonly family: string
  /** Empty if the item has no call id, or a call has no tool name, which every provider requires. */
  readonly callId: string
  readonly side: 'call' | 'output'
}

/** Returns null for an item that is neither a call nor an output. */
export function callEndOf(item: Item): ToolCallEnd | null {
  switch (item.type) {
    case 'function_call':
      return { family: 'function', callId: item.name === '' ? '' : item.call_id, side: 'call' }
    case 'function_call_output':
      return { family: 'function', callId: item.call_id, side: 'output' }
    case 'custom_tool_call':
      return { family: 'custom', callId: item.name === '' ? '' : item.call_id, side: 'call' }
    case 'custom_tool_call_output':
      return { family: 'custom', callId: item.call_id, side: 'output' }
    case 'opaque':
      return OPAQUE_READERS.get(item.raw['type'])?.(item.raw) ?? null
    case 'message':
    case 'reasoning':
      return null
  }
}

export function isCallOutput(item: Item): boolean {
  return callEndOf(item)?.side === 'output'
}

type CallEndReader = (raw: JsonObject) => ToolCallEnd | null

const OPAQUE_READERS: ReadonlyMap<unknown, CallEndReader> = new Map<string, CallEndReader>([
  ['computer_call', end('computer', 'call', 'call_id')],
  ['computer_call_output', end('computer', 'output', 'call_id')],
  ['local_shell_call', end('local_shell', 'call', 'call_id')],
  // The published type has no `call_id`; its `id` is that of the call.
  ['local_shell_call_output', end('local_shell', 'output', 'call_id', 'id')],
  ['shell_call', end('shell', 'call', 'call_id')],
  ['shell_call_output', end('shell', 'output', 'call_id')],
  ['apply_patch_call', end('apply_patch', 'call', 'call_id')],
  ['apply_patch_call_output', end('apply_patch', 'output', 'call_id')],
  ['mcp_approval_request', end('mcp_approval', 'call', 'id')],
  ['mcp_approval_response', end('mcp_approval', 'output', 'approval_request_id')],
  ['tool_search_call', ifClientRuns(end('tool_search', 'call', 'call_id'))],
  ['tool_search_output', ifClientRuns(end('tool_search', 'output', 'call_id'))],
])

function end(
  family: string,
  side: ToolCallEnd['side'],
  field: string,
  fallback = field,
): CallEndReader {
  return (raw) => {
    const callId = raw[field] ?? raw[fallback]
    return { family, callId: typeof callId === 'string' ? callId : '', side }
  }
}

/** A tool search has a `call_id` only if the client runs it. */
function ifClientRuns(read: CallEndReader): CallEndReader {
  return (raw) => (typeof raw['call_id'] === 'string' ? read(raw) : null)
}

/** Partner index of an item that has no partner or is no end of a call. */
export const UNPAIRED = -1

/**
 * Returns for each item the index of its other end, or `UNPAIRED`.
 *
 * Call ids may repeat, because some providers count calls from 0 in every answer. Calls of one batch
 * get their outputs in order; a call after a message or an output starts a new batch, and an older
 * call with the same id then stays unpaired. So a call without an output never gets one from a later
 * turn, and appending an item never breaks an earlier pair.
 */
export function findToolCallPairs(items: readonly Item[]): Int32Array {
  const partners = new Int32Array(items.length).fill(UNPAIRED)
  const families = new Map<string, Map<string, WaitingCalls>>()
  let batch = 0
  for (const [index, item] of items.entries()) {
    if (item.type === 'message') batch += 1
    const callEnd = callEndOf(item)
    if (callEnd === null || callEnd.callId === '') continue
    const { family, callId } = callEnd
    const waitingCalls = families.get(family) ?? new Map<string, WaitingCalls>()
    families.set(family, waitingCalls)
    const waiting = waitingCalls.get(callId)
    if (callEnd.side === 'call') {
      if (waiting?.batch === batch) waiting.calls.push(index)
      else waitingCalls.set(callId, { batch, calls: [index], answeredCount: 0 })
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

/** Calls of one batch with the same id. */
interface WaitingCalls {
  readonly batch: number
  readonly calls: number[]
  answeredCount: number
}
