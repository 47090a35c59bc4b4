/**
 * The rounds of an answer whose model calls tools of the house: these are answered here, and its upstream is
 * asked again with what it has said and their outputs.
 *
 * Where the house is called beside tools of the client, the answer ends as the client expects it, and
 * both outputs are there in the next request. After `MAX_ROUNDS` it ends in any case.
 */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { FunctionCallOutput, FunctionCall } from '../../../core/item.ts'
import { resolveMemoryThread } from '../../history/memory-thread-and-storage-permission.ts'
import type { PreparedRequest } from '../../prompt/planned-request.ts'
import type { AnswerOwner } from '../../send/answer-owner.ts'
import { decodeAnswerBody } from '../../send/decode-answer-body.ts'
import { createDecodedEventSource } from '../../send/end-stream-at-terminal-event.ts'
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
import type { ToolRound } from './tool-round.ts'
import type { ToolRunContext } from '../gateway-tool-interface.ts'
import type { Ports } from '../../dependencies-interface.ts'

/** How often a model is asked again within one answer. */
const MAX_ROUNDS = 8

export interface ToolRoundSession extends MultiRoundAnswer {
  readonly first: StreamedRound
}

export function runToolRounds(
  first: RawAnswer,
  asking: SendOptions,
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
): ToolRoundSession {
  const sent: PreparedRequest[] = [first.prepared]
  let refusal: GatewayError | null = null

  /** `before` are those that are over. */
  const opened = ({ prepared, body }: RawAnswer, before: readonly ToolRound[]): StreamedRound => {
    const isLast = before.length === MAX_ROUNDS
    return {
      events: createDecodedEventSource(body, decodeAnswerBody(prepared), ports.log),
      names: namesIn(prepared),
      async goOn(held, put) {
        const goesOn = held.finish === 'stop' && !isLast
        const outputs = goesOn
          ? await runRoundToolCalls(held.houseCalls, first.prepared, prepared, asker, ports)
          : skipToolCalls(held.houseCalls)
        put(outputs)
        if (asking.isDisconnected())
          throw new GatewayError('upstream_broken', 'The client went away.')
        if (goesOn && !held.callsOthers) return askAgain(before, prepared, held, outputs)
        if (isLast) ports.log('warn', 'house-called-too-often')
        return null
      },
    }
  }
  const askAgain = async (
    before: readonly ToolRound[],
    prepared: PreparedRequest,
    { said, usage }: FinishedRound,
    outputs: readonly FunctionCallOutput[],
  ): Promise<StreamedRound> => {
    const { account, prompt } = prepared
    const { media, loaded, letGo } = await loadToolOutputMedia(outputs, prepared, asker, ports)
    try {
      const round = { prepared, said, usage, outputs, media, loaded }
      const rounds = [...before, round]
      const [oldest = round, ...others] = rounds
      const again = prepareNextRound([oldest, ...others], rounds.length === MAX_ROUNDS, ports)
      // It is sent, whatever becomes of it.
      sent.push(again)
      const targets = [{ account, model: prompt.params.model }]
      const asked = await sendWithFallback({ ...asking, targets, prepare: () => again }, ports)
      sent.splice(-1, 1, asked.prepared)
      return opened(asked, rounds)
    } catch (error) {
      if (error instanceof GatewayError) refusal = error
      throw error
    } finally {
      letGo()
    }
  }

  return { first: opened(first, []), sent: () => sent, refusal: () => refusal }
}

function namesIn({ gatewayTools }: PreparedRequest): readonly string[] {
  return gatewayTools.map(({ tool }) => tool.name)
}

/** `first` is what the answer was asked for with, `newest` what the round was. */
export function runRoundToolCalls(
  calls: readonly FunctionCall[],
  first: PreparedRequest,
  newest: Pick<PreparedRequest, 'policy' | 'gatewayTools'>,
  { caller, turnId }: AnswerOwner,
  ports: Ports<'facts' | 'layers' | 'log' | 'newTurnId' | 'nowMs'>,
): Promise<readonly FunctionCallOutput[]> {
  const { items, clientRequest, history } = first
  const { policy, gatewayTools } = newest
  const place = resolveMemoryThread(clientRequest, history, turnId)
  const memory = { ...place, thread: place.thread ?? turnId }
  const reach = selectReadableItems(items, policy.speakers)
  const context: ToolRunContext = {
    items,
    withinReach: reach,
    policy,
    caller,
    ports: ports,
    memory,
  }
  return runToolCalls(calls, gatewayTools, context)
}
