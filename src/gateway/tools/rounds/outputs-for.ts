/**
 * What the calls of the house in a round are answered. A tool may ask for all that was said before the
 * answer, in its own words, and answers by the policy that the round was asked under.
 */
import type { FunctionCall, FunctionCallOutput } from '../../../core/item.ts'
import { memoryPlace } from '../../history/memory-thread-and-storage-permission.ts'
import { answerHouseCalls } from '../run-tool-calls.ts'
import { withinReach } from '../select-readable-items.ts'
import type { World } from '../../dependencies-interface.ts'
import type { Asker } from '../send-with-tools.ts'
import type { Prepared } from '../../prompt/prepare-request.ts'

/** `first` is what the answer was asked for with, `newest` what the round was. */
export function outputsFor(
  calls: readonly FunctionCall[],
  first: Prepared,
  newest: Pick<Prepared, 'policy' | 'house'>,
  { caller, turnId }: Asker,
  world: World,
): Promise<readonly FunctionCallOutput[]> {
  const { items, inbound, history } = first
  const { policy, house } = newest
  const place = memoryPlace(inbound, history, turnId)
  const memory = { ...place, thread: place.thread ?? turnId }
  const reach = withinReach(items, policy.speakers)
  const context = { items, withinReach: reach, policy, caller, world, memory }
  return answerHouseCalls(calls, house, context)
}
