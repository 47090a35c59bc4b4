/**
 * Rejects a request with a `previous_response_id` and an output for a call that its history does not
 * hold: the client has probably named the wrong response. If a client sends its complete history,
 * `context/tool-calls/prune-orphans.ts` drops such outputs instead, with a note.
 */
import type { Item } from '../../core/item.ts'
import { callEndOf, type ToolCallEnd } from '../../core/items/tool-call-pairs.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

/** Throws a GatewayError if an output of the request has no call in the history or the request. */
export function rejectOrphanOutputs(
  historyItems: readonly Item[],
  { items, storage }: ClientRequest,
): void {
  if (storage.previousResponseId === null) return
  const outputs = listCallEnds(items, 'output')
  if (outputs.length === 0) return
  const calls = [...listCallEnds(historyItems, 'call'), ...listCallEnds(items, 'call')]
  const callKeys = new Set(calls.map(formatKey))
  const orphan = outputs.find((output) => !callKeys.has(formatKey(output)))
  if (orphan === undefined) return
  const callId = orphan.callId.slice(0, 64)
  throw new GatewayError({
    status: 400,
    type: 'invalid_request_error',
    code: null,
    message: `No tool call found for function call output with call_id ${callId}.`,
    param: 'input',
  })
}

function listCallEnds(items: readonly Item[], side: ToolCallEnd['side']): readonly ToolCallEnd[] {
  return items.flatMap((item) => {
    const end = callEndOf(item)
    return end?.side === side ? [end] : []
  })
}

function formatKey({ family, callId }: ToolCallEnd): string {
  return `${family} ${callId}`
}
