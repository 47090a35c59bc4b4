/**
 * Who goes on from a response answers calls that were made there. An output for any other call means
 * that the client takes this for another conversation, which is better said than mended.
 *
 * Where a client brings its whole history along, orphans are left out instead, with a note.
 */
import type { Item } from '../../core/item.ts'
import { callEndOf, type ToolCallEnd } from '../../core/items/tool-call-pairs.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

/** `before` is what is remembered. Throws a GatewayError. */
export function rejectOrphanOutputs(
  before: readonly Item[],
  { items, storage }: ClientRequest,
): void {
  if (storage.previousResponseId === null) return
  const outputs = endsIn(items, 'output')
  if (outputs.length === 0) return
  const calls = new Set([...endsIn(before, 'call'), ...endsIn(items, 'call')].map(nameOf))
  const orphan = outputs.find((output) => !calls.has(nameOf(output)))
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

function endsIn(items: readonly Item[], side: ToolCallEnd['side']): readonly ToolCallEnd[] {
  return items.flatMap((item) => {
    const end = callEndOf(item)
    return end?.side === side ? [end] : []
  })
}

function nameOf({ family, callId }: ToolCallEnd): string {
  return `${family} ${callId}`
}
