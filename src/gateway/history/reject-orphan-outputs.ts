/**
 * Rejects a request with a `previous_response_id` and a tool output without a call, because the client has
 * probably sent the id of another response. In a request without that id,
 * `context/tool-calls/prune-orphans.ts` drops such an output and writes a note.
 */
import type { Item } from '../../core/item.ts'
import { readToolCallIdentity, type ToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

/** Throws a GatewayError if a tool output in the request has a call neither in the history nor in the request. */
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

function listCallEnds(
  items: readonly Item[],
  side: ToolCallIdentity['side'],
): readonly ToolCallIdentity[] {
  return items.flatMap((item) => {
    const end = readToolCallIdentity(item)
    return end?.side === side ? [end] : []
  })
}

function formatKey({ toolKind, callId }: ToolCallIdentity): string {
  return `${toolKind} ${callId}`
}
