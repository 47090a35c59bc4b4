/** Lists the calls of a turn that its client saw. */
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { readCallId } from '../split-and-fingerprint-segments.ts'

/** Lists the ids of the turn's calls, except those of gateway tools. */
export function listClientCallIds({ output }: Pick<RecordedTurn, 'output'>): readonly string[] {
  return output.flatMap((item) => (isGatewayToolItem(item) ? [] : (readCallId(item, 'call') ?? [])))
}
