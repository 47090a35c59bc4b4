/**
 * Sends a request upstream, and further requests (tool rounds) as long as the model calls gateway tools.
 * All rounds are merged into one answer, which can be streamed and cancelled like the answer to a single
 * request.
 */
import { sendWithFallback, type SendOptions } from '../send/send-with-fallback.ts'
import type { UpstreamAnswer } from '../send/upstream-answer-types.ts'
import { createRoundEventMerger } from './rounds/merge-round-events.ts'
import { openToolRounds, type AnswerOwner } from './rounds/open-tool-rounds.ts'
import { streamToolRounds } from './rounds/stream-tool-rounds.ts'
import type { GatewayDependencies } from '../dependencies-interface.ts'

/** Sends the request. `cancel` cancels the current upstream call and all later ones. */
export async function sendWithTools(
  { cancel, ...options }: SendOptions & { readonly cancel: () => void },
  owner: AnswerOwner,
  ports: GatewayDependencies,
): Promise<UpstreamAnswer> {
  const answer = await sendWithFallback(options, ports)
  const { prepared } = answer
  if (prepared.gatewayTools.length === 0) return answer
  const { first, ...rounds } = openToolRounds(answer, options, owner, ports)
  const merger = createRoundEventMerger(owner.turnId, first.toolNames, prepared.items)
  const { isDisconnected } = options
  return {
    ...rounds,
    prepared,
    events: streamToolRounds({ first, merger, isDisconnected, cancel, log: ports.log }),
  }
}
