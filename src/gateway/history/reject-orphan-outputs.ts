/**
 * Rejects a request with a `previous_response_id` and a tool output whose call is not in the history: the
 * client has probably sent the id of another response. If a client sends its complete chat instead of an id,
 * `context/tool-calls/prune-orphans.ts` drops such an output and writes a note.
 */
import type { Item } from '../../core/item.ts'
import { readToolCallIdentity, type ToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

/** Throws a GatewayError if a tool output in the request has no call in the history or in the request. */
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
