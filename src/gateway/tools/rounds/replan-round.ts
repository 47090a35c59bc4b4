/**
 * A request in the middle of an answer that goes through its plan as a whole, as the request of a client
 * that answers its tools itself would: the conversation with what was said and answered since. What was
 * cut in front of reasoning that a model holds to its prefix, costs that reasoning, as anywhere else.
 *
 * The request stays what its client has sent, whatever is made of it.
 */
import { cachePerObject } from '../../../core/caching/cache-per-object.ts'
import type { Item, Origin } from '../../../core/item.ts'
import { unmarkGatewayToolItem } from '../../../core/items/gateway-tool-items.ts'
import { hasEncryptedReasoning } from '../../../core/reasoning/is-encrypted-or-signed.ts'
import {
  REJECTED_BY_UPSTREAM,
  dropPreviouslyRejectedParameters,
} from '../../../providers/request/drop-rejected-parameters.ts'
import type { LoadedHistory } from '../../history/loaded-history.ts'
import { prepareRequest } from '../../prompt/prepare-request.ts'
import type { PreparedRequest } from '../../prompt/planned-request.ts'
import { fitToWindow } from '../../prompt/size/fit-to-window.ts'
import { resolveAnswerOrigin, hashAnswerPrefix } from '../../record/answer-provenance.ts'
import type { ToolRound, ToolRounds } from './tool-round.ts'
import type { Ports } from '../../dependencies-interface.ts'

/** Throws a GatewayError where nothing may be cut, or nothing is left to be. */
export function replanRound(
  rounds: ToolRounds,
  ports: Ports<'memoryLayers' | 'settings'>,
): PreparedRequest {
  const [{ prepared: first }] = rounds
  const { account, clientRequest, history, prompt } = first
  const { originalItems = clientRequest.items } = clientRequest
  const said = rounds.flatMap((round) => answerIn(round).items)
  // With a compaction, which the answer begins with.
  const items = [...first.items.slice(history.items.length), ...said]
  const target = { account, model: prompt.params.model }
  const grown = historyWith(rounds, history)
  const asked = { clientRequest: { ...clientRequest, items, originalItems }, history: grown }
  const planned = fitToWindow(prepareRequest(target, asked, ports), ports)
  // What the upstream has refused is not said again.
  const refused =
    rounds.at(-1)?.prepared.notes.filter(({ why }) => why === REJECTED_BY_UPSTREAM) ?? []
  const encoded = dropPreviouslyRejectedParameters(planned.encoded, refused)
  return { ...planned, encoded, notes: [...planned.notes, ...refused], clientRequest, history }
}

interface AnswerInRound {
  readonly origin: Origin
  readonly items: readonly Item[]
}

/**
 * Each round is an answer of its own here, as it would be to a client: reasoning of it was made behind
 * what was sent for it, and something may stand between two of them.
 */
const answerIn = cachePerObject(({ prepared, said, outputs }: ToolRound): AnswerInRound => {
  const isBound = hasEncryptedReasoning(said)
  const prefixHash = isBound ? hashAnswerPrefix(prepared, said) : null
  const origin = { ...resolveAnswerOrigin(prepared), prefixHash }
  const items = [...said, ...outputs].map((item) => ({ ...unmarkGatewayToolItem(item), origin }))
  return { origin, items }
})

function historyWith(rounds: ToolRounds, history: LoadedHistory): LoadedHistory {
  const { account } = rounds[0].prepared
  const tokens = new Map(
    rounds.map((round) => [answerIn(round).origin, round.usage?.totalTokens ?? null]),
  )
  const refusals = rounds
    .filter(({ prepared }) => prepared.wasReasoningRejected)
    .map((round) => ({ account: account.name, origin: answerIn(round).origin }))
  const loaded = rounds.flatMap((round) => [...(round.loaded ?? [])])
  return {
    ...history,
    reasoningRejections: [...history.reasoningRejections, ...refusals],
    countReportedTokens: (origin) =>
      tokens.get(origin) ?? history.countReportedTokens?.(origin) ?? null,
    ...(loaded.length === 0 ? {} : { media: new Map([...(history.media ?? []), ...loaded]) }),
  }
}
