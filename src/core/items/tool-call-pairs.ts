/**
 * Which items are the two ends of a tool call, whatever kind of tool it is: a call, which the model
 * makes, and its output, which somebody else gives. Hosted tools (web search, code interpreter,
 * `mcp_call`, programs, a search for tools that the server runs) bring their own result and are not
 * calls in this sense.
 */
import type { Item } from '../item.ts'
import type { JsonObject } from '../json/json.ts'

export interface ToolCallEnd {
  /** A call is answered only by an output of its own family. */
  readonly family: string
  /** Empty where the item names none, or a name is missing that no provider does without. */
  readonly callId: string
  readonly side: 'call' | 'output'
}

/** `null` for everything that is neither a call nor the output of one. */
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
      return opaqueEnd(item.raw)
    case 'message':
    case 'reasoning':
      return null
  }
}

export function isCallOutput(item: Item): boolean {
  return callEndOf(item)?.side === 'output'
}

type Read = (raw: JsonObject) => ToolCallEnd | null

const OPAQUE: ReadonlyMap<unknown, Read> = new Map<string, Read>([
  ['computer_call', end('computer', 'call', 'call_id')],
  ['computer_call_output', end('computer', 'output', 'call_id')],
  ['local_shell_call', end('local_shell', 'call', 'call_id')],
  // The published type has no `call_id`: there, `id` is that of the call.
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

function opaqueEnd(raw: JsonObject): ToolCallEnd | null {
  return OPAQUE.get(raw['type'])?.(raw) ?? null
}

function end(family: string, side: ToolCallEnd['side'], field: string, orElse = field): Read {
  return (raw) => {
    const callId = raw[field] ?? raw[orElse]
    return { family, callId: typeof callId === 'string' ? callId : '', side }
  }
}

/** A search for tools has a `call_id` only when the client runs it. */
function ifClientRuns(read: Read): Read {
  return (raw) => (typeof raw['call_id'] === 'string' ? read(raw) : null)
}

/** The partner of what has none, and of what is no end of a call. */
export const UNPAIRED = -1

/**
 * For each item the place of its other end, or `UNPAIRED`.
 *
 * Ids may repeat, for some providers count their calls from 0 in every answer. Calls that were made
 * together are answered in their order; a call that is made later, behind a message or an output,
 * takes its id over from an older one that is still waiting. So a call that never got an output
 * does not get that of a later turn, and an item that is added at the end parts no older pair.
 */
export function findToolCallPairs(items: readonly Item[]): Int32Array {
  const partners = new Int32Array(items.length).fill(UNPAIRED)
  const families = new Map<string, Map<string, Waiting>>()
  let moment = 0
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at]
    if (item?.type === 'message') moment += 1
    const callEnd = item === undefined ? null : callEndOf(item)
    if (callEnd === null || callEnd.callId === '') continue
    const { family, callId } = callEnd
    const waiting = families.get(family) ?? new Map<string, Waiting>()
    families.set(family, waiting)
    const before = waiting.get(callId)
    if (callEnd.side === 'call') {
      if (before?.moment === moment) before.calls.push(at)
      else waiting.set(callId, { moment, calls: [at], answered: 0 })
      continue
    }
    const call = before?.calls[before.answered]
    if (before === undefined || call === undefined) continue
    before.answered += 1
    partners[at] = call
    partners[call] = at
    moment += 1
  }
  return partners
}

/** The calls under one id that wait for their outputs, all made at the same moment. */
interface Waiting {
  readonly moment: number
  readonly calls: number[]
  answered: number
}
