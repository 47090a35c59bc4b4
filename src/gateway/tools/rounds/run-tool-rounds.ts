/**
 * The rounds of an answer whose model calls tools of the house: these are answered here, and its upstream is
 * asked again with what it has said and their outputs.
 *
 * Where the house is called beside tools of the client, the answer ends as the client expects it, and
 * both outputs are there in the next request. After `MAX_ROUNDS` it ends in any case.
 */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { FunctionCallOutput } from '../../../core/item.ts'
import { unanswered } from '../run-tool-calls.ts'
import type { HeldRound } from './merge-round-events.ts'
import { decodedAnswer } from '../../send/end-stream-at-terminal-event.ts'
import { readAnswerEvents } from '../../send/decode-answer-body.ts'
import type { World } from '../../dependencies-interface.ts'
import type { AskedInRounds } from '../../send/upstream-answer-types.ts'
import type { Asker } from '../send-with-tools.ts'
import { askedAgain, type Round } from './prepare-next-round.ts'
import { ask, type Asked, type Asking } from '../../send/send-with-fallback.ts'
import type { OpenRound } from './stream-tool-rounds.ts'
import { mediaOfOutputs } from './load-tool-output-media.ts'
import { outputsFor } from './outputs-for.ts'
import type { Prepared } from '../../prompt/prepare-request.ts'

/** How often a model is asked again within one answer. */
const MAX_ROUNDS = 8

export interface HouseRounds extends AskedInRounds {
  readonly first: OpenRound
}

export function houseRounds(first: Asked, asking: Asking, asker: Asker, world: World): HouseRounds {
  const sent: Prepared[] = [first.prepared]
  let refusal: GatewayError | null = null

  /** `before` are those that are over. */
  const opened = ({ prepared, body }: Asked, before: readonly Round[]): OpenRound => {
    const isLast = before.length === MAX_ROUNDS
    return {
      events: decodedAnswer(body, readAnswerEvents(prepared), world.log),
      names: namesIn(prepared),
      async goOn(held, put) {
        const goesOn = held.finish === 'stop' && !isLast
        const outputs = goesOn
          ? await outputsFor(held.houseCalls, first.prepared, prepared, asker, world)
          : unanswered(held.houseCalls)
        put(outputs)
        if (asking.isGone()) throw new GatewayError('upstream_broken', 'The client went away.')
        if (goesOn && !held.callsOthers) return askAgain(before, prepared, held, outputs)
        if (isLast) world.log('warn', 'house-called-too-often')
        return null
      },
    }
  }
  const askAgain = async (
    before: readonly Round[],
    prepared: Prepared,
    { said, usage }: HeldRound,
    outputs: readonly FunctionCallOutput[],
  ): Promise<OpenRound> => {
    const { account, prompt } = prepared
    const { media, loaded, letGo } = await mediaOfOutputs(outputs, prepared, asker, world)
    try {
      const round = { prepared, said, usage, outputs, media, loaded }
      const rounds = [...before, round]
      const [oldest = round, ...others] = rounds
      const again = askedAgain([oldest, ...others], rounds.length === MAX_ROUNDS, world)
      // It is sent, whatever becomes of it.
      sent.push(again)
      const targets = [{ account, model: prompt.params.model }]
      const asked = await ask({ ...asking, targets, prepare: () => again }, world)
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

function namesIn({ house }: Prepared): readonly string[] {
  return house.map(({ tool }) => tool.name)
}
