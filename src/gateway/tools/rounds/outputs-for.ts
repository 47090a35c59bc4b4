/**
 * What the calls of the house in a round are answered. A tool may ask for all that was said before the
 * answer, in its own words, and answers by the policy that the round was asked under.
 */
import type { FunctionCall, FunctionCallOutput } from '../../../core/item.ts'
import { resolveMemoryThread } from '../../history/memory-thread-and-storage-permission.ts'
import { runToolCalls } from '../run-tool-calls.ts'
import { selectReadableItems } from '../select-readable-items.ts'
import type { GatewayDependencies } from '../../dependencies-interface.ts'
import type { AnswerOwner } from '../send-with-tools.ts'
import type { PreparedRequest } from '../../prompt/prepare-request.ts'

/** `first` is what the answer was asked for with, `newest` what the round was. */
export function runRoundToolCalls(
  calls: readonly FunctionCall[],
  first: PreparedRequest,
  newest: Pick<PreparedRequest, 'policy' | 'house'>,
  { caller, turnId }: AnswerOwner,
  world: GatewayDependencies,
): Promise<readonly FunctionCallOutput[]> {
  const { items, inbound, history } = first
  const { policy, house } = newest
  const place = resolveMemoryThread(inbound, history, turnId)
  const memory = { ...place, thread: place.thread ?? turnId }
  const reach = selectReadableItems(items, policy.speakers)
  const context = { items, withinReach: reach, policy, caller, world, memory }
  return runToolCalls(calls, house, context)
}
