/**
 * Asks an upstream, and goes on asking it for as long as it calls tools of the house. Whoever reads the
 * answer reads one: it flows, and is taken back, like that of any other upstream.
 */
import type { AnswerOwner } from '../send/answer-owner.ts'
import { sendWithFallback, type SendOptions } from '../send/send-with-fallback.ts'
import type { UpstreamAnswer } from '../send/upstream-answer-types.ts'
import { createRoundEventMerger } from './rounds/merge-round-events.ts'
import { runToolRounds } from './rounds/run-tool-rounds.ts'
import { streamToolRounds } from './rounds/stream-tool-rounds.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface CancellableSendOptions extends SendOptions {
  /** Takes back what is asked, and all that would be asked. */
  readonly cancel: () => void
}

export async function sendWithTools(
  { cancel, ...asking }: CancellableSendOptions,
  asker: AnswerOwner,
  ports: Ports<
    | 'accounts'
    | 'facts'
    | 'layers'
    | 'log'
    | 'media'
    | 'mediaLoader'
    | 'memoryLayers'
    | 'newTurnId'
    | 'nowMs'
    | 'settings'
    | 'transport'
  >,
): Promise<UpstreamAnswer> {
  const asked = await sendWithFallback(asking, ports)
  const { prepared } = asked
  if (prepared.gatewayTools.length === 0) return asked
  const { first, ...rounds } = runToolRounds(asked, asking, asker, ports)
  const answer = createRoundEventMerger(asker.turnId, first.names, prepared.items)
  const { isDisconnected } = asking
  return {
    ...rounds,
    prepared,
    events: streamToolRounds({ first, answer, isDisconnected, cancel, log: ports.log }),
  }
}
