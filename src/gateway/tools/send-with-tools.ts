/**
 * Sends a request upstream, and sends the next rounds as long as the model calls gateway tools. The rounds are merged
 * into one answer, which streams and can be cancelled like the answer of a single request.
 */
import { sendWithFallback, type SendOptions } from '../send/send-with-fallback.ts'
import type { UpstreamAnswer } from '../send/upstream-answer-types.ts'
import { createRoundEventMerger } from './rounds/merge-round-events.ts'
import { runToolRounds, type AnswerOwner, type ToolRoundPorts } from './rounds/run-tool-rounds.ts'
import { streamToolRounds } from './rounds/stream-tool-rounds.ts'

/** `cancel` cancels the current call and all later ones. */
export async function sendWithTools(
  { cancel, ...options }: SendOptions & { readonly cancel: () => void },
  owner: AnswerOwner,
  ports: ToolRoundPorts,
): Promise<UpstreamAnswer> {
  const answer = await sendWithFallback(options, ports)
  const { prepared } = answer
  if (prepared.gatewayTools.length === 0) return answer
  const { first, ...rounds } = runToolRounds(answer, options, owner, ports)
  const merger = createRoundEventMerger(owner.turnId, first.toolNames, prepared.items)
  const { isDisconnected } = options
  return {
    ...rounds,
    prepared,
    events: streamToolRounds({ first, merger, isDisconnected, cancel, log: ports.log }),
  }
}
