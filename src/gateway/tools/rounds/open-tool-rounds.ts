/**
 * Opens the tool rounds of an answer, one after the other, when the reader of the answer requests the next
 * one. For a new round, the gateway runs the calls of its tools, and sends the upstream a request with the
 * model's items and the outputs.
 *
 * If a round also calls tools of the client, the answer ends with this round, so that the client can run
 * them; the client's next request continues with all outputs. The answer also ends after 8 further rounds.
 */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { FunctionCallOutput, FunctionCall } from '../../../core/item.ts'
import { resolveMemoryThread } from '../../history/memory-thread-and-storage-permission.ts'
import type { PreparedRequest } from '../../prompt/planned-request.ts'
import type { Caller } from '../../../core/client/caller.ts'
import { decodeAnswerBody } from '../../send/decode-answer-body.ts'
import { createDecodedEventSource } from '../../send/decoded-event-source.ts'
import {
  sendWithFallback,
  type RawAnswer,
  type SendOptions,
} from '../../send/send-with-fallback.ts'
import type { MultiRoundAnswer } from '../../send/upstream-answer-types.ts'
import { skipToolCalls, runToolCalls } from '../run-tool-calls.ts'
import { selectReadableItems } from '../select-readable-items.ts'
import { loadToolOutputMedia } from './load-tool-output-media.ts'
import type { FinishedRound } from './merge-round-events.ts'
import { prepareNextRound } from './prepare-next-round.ts'
import type { StreamedRound } from './stream-tool-rounds.ts'
import type { ToolRound, ToolRounds } from './tool-round.ts'
import type { Ports, GatewayDependencies } from '../../dependencies-interface.ts'

/** Maximum number of upstream requests after the first one in an answer. */
const MAX_ROUNDS = 8

/** The caller and the turn of an answer. */
export interface AnswerOwner {
  readonly caller: Caller
  readonly turnId: string
  /** Keeps the runtime alive until the work is done, even if the answer is complete before that. */
  readonly waitUntil: (work: Promise<unknown>) => void
}

/** Returns the first round. Its `openNextRound` runs the tool calls and sends the request of the second round, etc. */
export function openToolRounds(
  first: RawAnswer,
  options: SendOptions,
  owner: AnswerOwner,
  ports: GatewayDependencies,
): MultiRoundAnswer & { readonly first: StreamedRound } {
  const sent: PreparedRequest[] = [first.prepared]
  let rejection: GatewayError | null = null

  const openRound = (
    { prepared, body }: RawAnswer,
    previous: readonly ToolRound[],
  ): StreamedRound => {
    const isLastRound = previous.length === MAX_ROUNDS
    return {
      events: createDecodedEventSource(body, decodeAnswerBody(prepared), ports.log),
      toolNames: prepared.gatewayTools.map(({ tool }) => tool.name),
      async openNextRound(finished, emitOutputs) {
        const runsTools = finished.finish === 'stop' && !isLastRound
        const outputs = runsTools
          ? await runRoundToolCalls(finished.gatewayCalls, first.prepared, prepared, owner, ports)
          : skipToolCalls(finished.gatewayCalls)
        emitOutputs(outputs)
        if (options.isDisconnected())
          throw new GatewayError('upstream_broken', 'The client disconnected.')
        if (runsTools && !finished.hasClientCalls)
          return sendNextRound(previous, prepared, finished, outputs)
        if (isLastRound) ports.log('warn', 'house-called-too-often')
        return null
      },
    }
  }
  const sendNextRound = async (
    previous: readonly ToolRound[],
    prepared: PreparedRequest,
    { modelItems, usage }: FinishedRound,
    outputs: readonly FunctionCallOutput[],
  ): Promise<StreamedRound> => {
    const { account, prompt } = prepared
    const { releaseMedia, ...media } = await loadToolOutputMedia(outputs, prepared, owner, ports)
    try {
      const round = { prepared, modelItems, usage, outputs, ...media }
      const rounds: ToolRounds = [...previous, round]
      const next = prepareNextRound(rounds, rounds.length === MAX_ROUNDS, ports)
      // Lists the request before it is sent, so that a request that the upstream rejects is listed too.
      sent.push(next)
      const targets = [{ account, model: prompt.params.model }]
      const answer = await sendWithFallback({ ...options, targets, prepare: () => next }, ports)
      sent.splice(-1, 1, answer.prepared)
      return openRound(answer, rounds)
    } catch (error) {
      if (error instanceof GatewayError) rejection = error
      throw error
    } finally {
      releaseMedia()
    }
  }

  return {
    first: openRound(first, []),
    listSentRequests: () => sent,
    getRejection: () => rejection,
  }
}

/**
 * Runs the gateway calls of a round. `first`: first request of the answer; `latest`: the request that was
 * answered with these calls.
 */
export function runRoundToolCalls(
  calls: readonly FunctionCall[],
  first: PreparedRequest,
  latest: Pick<PreparedRequest, 'policy' | 'gatewayTools'>,
  { caller, turnId }: AnswerOwner,
  ports: Ports<'facts' | 'layers' | 'log' | 'newTurnId' | 'nowMs'>,
): Promise<readonly FunctionCallOutput[]> {
  const { items, clientRequest, history } = first
  const { policy, gatewayTools } = latest
  const memory = resolveMemoryThread(clientRequest, history, turnId)
  return runToolCalls(calls, gatewayTools, {
    items,
    readableItems: selectReadableItems(items, policy.speakers),
    policy,
    caller,
    ports,
    memoryThread: { ...memory, thread: memory.thread ?? turnId },
  })
}
